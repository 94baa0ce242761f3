// SPDX-License-Identifier: Apache-2.0
#include "fl/torch/product_convolution.h"

#include <torch/csrc/autograd/custom_function.h>

#include "fl/torch/layers.h"

namespace ebb::fl {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

/// The sizes of one convolution, and what each output sees: all channels of the first pixel of a
/// window, then of the next, [clients, outputs of all pictures, kernel * kernel * channels].
class Windows {
 public:
  /// `sizes`: of the flow.
  Windows(at::IntArrayRef sizes, const at::Tensor& weight, std::int64_t stride,
          std::int64_t padding, const CardKernels* kernels)
      : kernels_(kernels),
        options_(weight.options()),
        clients_(weight.size(0)),
        channels_(weight.size(2)),
        kernel_(weight.size(3)),
        stride_(stride),
        padding_(padding),
        batch_(sizes[0]),
        height_(sizes[2]),
        width_(sizes[3]),
        down_((height_ + 2 * padding - kernel_) / stride + 1),
        across_((width_ + 2 * padding - kernel_) / stride + 1) {}

  /// Of a flow with channels last.
  at::Tensor seen(const at::Tensor& flow) const {
    if (kernels_ != nullptr) {
      at::Tensor windows = at::empty({clients_, outputs(), window()}, options_);
      const bool by_four = lane() == 4;
      const std::int64_t count =
          clients_ * batch_ * down_ * (by_four ? across_ * channels_ / lane() : 1);
      kernels_->run(by_four ? CardKernels::Name::windows_of_four : CardKernels::Name::windows,
                    by_four ? blocks_for(count) : CardKernels::Size{(count + kRows - 1) / kRows},
                    by_four ? CardKernels::Size{kThreads} : CardKernels::Size{32, kRows},
                    {flow, windows, clients_, channels_ / lane(), kernel_, stride_, padding_,
                     batch_, height_, width_, down_, across_, count});
      return windows;
    }
    const at::Tensor each = flow.permute({0, 2, 3, 1}).unflatten(3, {clients_, channels_});
    return at::constant_pad_nd(each, {0, 0, 0, 0, padding_, padding_, padding_, padding_})
        .unfold(1, kernel_, stride_)
        .unfold(2, kernel_, stride_)
        .permute({3, 0, 1, 2, 5, 6, 4})
        .reshape({clients_, outputs(), window()});
  }

  /// The gradient of the flow from that of the windows: what a pixel has in each of those that see
  /// it, added up in their order.
  at::Tensor unseen(const at::Tensor& windows) const {
    if (kernels_ != nullptr) {
      at::Tensor flow = at::empty({batch_, height_, width_, clients_ * channels_}, options_);
      const std::int64_t count = flow.numel() / lane();
      kernels_->run(
          lane() == 4 ? CardKernels::Name::windows_back_of_four : CardKernels::Name::windows_back,
          blocks_for(count), {kThreads, 1},
          {windows, flow, clients_, channels_ / lane(), kernel_, stride_, padding_, batch_, height_,
           width_, down_, across_, count});
      return flow.permute({0, 3, 1, 2});
    }
    const at::Tensor parts =
        windows.view({clients_, batch_, down_, across_, kernel_, kernel_, channels_});
    const at::Tensor padded = at::zeros(
        {batch_, height_ + 2 * padding_, width_ + 2 * padding_, clients_, channels_}, options_);
    for (std::int64_t y = 0; y < kernel_; ++y) {
      for (std::int64_t x = 0; x < kernel_; ++x)
        padded.slice(1, y, y + stride_ * (down_ - 1) + 1, stride_)
            .slice(2, x, x + stride_ * (across_ - 1) + 1, stride_)
            .add_(parts.select(5, x).select(4, y).permute({1, 2, 3, 0, 4}));
    }
    return padded.narrow(1, padding_, height_)
        .narrow(2, padding_, width_)
        .flatten(3)
        .contiguous()
        .permute({0, 3, 1, 2});
  }

  /// Outputs with channels last, as [clients, outputs of all pictures, channels], without a copy.
  at::Tensor by_client(const at::Tensor& flow) const {
    return flow.permute({0, 2, 3, 1}).flatten(0, 2).unflatten(1, {clients_, -1}).transpose(0, 1);
  }
  /// No view of anything: what follows may write over it.
  at::Tensor empty_result(std::int64_t channels) const {
    return at::empty({batch_, clients_ * channels, down_, across_},
                     options_.memory_format(at::MemoryFormat::ChannelsLast));
  }

 private:
  static constexpr std::int64_t kThreads = 256;
  static constexpr std::int64_t kRows = 8;  ///< of single channels, that a block lays out

  /// Channels that a thread takes at once.
  std::int64_t lane() const { return channels_ % 4 == 0 ? 4 : 1; }
  static CardKernels::Size blocks_for(std::int64_t count) {
    return {(count + kThreads - 1) / kThreads};
  }
  std::int64_t outputs() const { return batch_ * down_ * across_; }
  std::int64_t window() const { return channels_ * kernel_ * kernel_; }

  const CardKernels* kernels_;
  const at::TensorOptions options_;
  const std::int64_t clients_;
  const std::int64_t channels_;
  const std::int64_t kernel_;
  const std::int64_t stride_;
  const std::int64_t padding_;
  const std::int64_t batch_;
  const std::int64_t height_;
  const std::int64_t width_;
  const std::int64_t down_;
  const std::int64_t across_;
};

/// A weight as a matrix for each client, [clients, outputs, kernel * kernel * channels]: without a
/// copy where it has its channels last.
at::Tensor matrix_of(const at::Tensor& weight) {
  return weight.detach().permute({0, 1, 3, 4, 2}).flatten(2);
}

bool is_a_matrix(const at::Tensor& weight) {
  return weight.permute({0, 1, 3, 4, 2}).is_contiguous();
}

class Products : public torch::autograd::Function<Products> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& given,
                            const at::Tensor& weight, const ProductOptions& options,
                            const CardKernels* kernels) {
    const at::Tensor flow = given.contiguous(at::MemoryFormat::ChannelsLast);
    context->saved_data["sizes"] = flow.sizes().vec();
    context->saved_data["stride"] = options.stride;
    context->saved_data["padding"] = options.padding;
    context->saved_data["keeps_windows"] = options.keeps_windows;
    // A copy could not move on.
    context->saved_data["lr"] = is_a_matrix(weight) ? options.lr : 0.0;
    context->saved_data["kernels"] = reinterpret_cast<std::int64_t>(kernels);
    context->saved_data["needs_flow"] = given.requires_grad();
    const Windows windows(flow.sizes(), weight, options.stride, options.padding, kernels);
    const at::Tensor seen = windows.seen(flow);
    context->save_for_backward({options.keeps_windows ? seen : flow, weight});
    at::Tensor result = windows.empty_result(weight.size(1));
    at::Tensor by_client = windows.by_client(result);
    at::bmm_out(by_client, seen, matrix_of(weight).transpose(1, 2));
    return result;
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const auto saved = context->get_saved_variables();
    const at::Tensor& kept = saved[0];
    const at::Tensor& weight = saved[1];
    const std::vector<std::int64_t> sizes = context->saved_data["sizes"].toIntVector();
    const Windows windows(
        sizes, weight, context->saved_data["stride"].toInt(),
        context->saved_data["padding"].toInt(),
        reinterpret_cast<const CardKernels*>(context->saved_data["kernels"].toInt()));
    const at::Tensor gradient =
        windows.by_client(gradients[0].contiguous(at::MemoryFormat::ChannelsLast));
    const at::Tensor matrix = matrix_of(weight);
    at::Tensor of_flow;
    // Pictures themselves need no gradient. Before the weight moves on.
    if (context->saved_data["needs_flow"].toBool())
      of_flow = windows.unseen(at::bmm(gradient, matrix));
    at::Tensor of_weight =
        left_by(gradient.transpose(1, 2),
                context->saved_data["keeps_windows"].toBool() ? kept : windows.seen(kept), matrix,
                context->saved_data["lr"].toDouble());
    if (of_weight.defined())
      of_weight = of_weight
                      .view({weight.size(0), weight.size(1), weight.size(3), weight.size(4),
                             weight.size(2)})
                      .permute({0, 1, 4, 2, 3});
    return {of_flow, of_weight, at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor convolve_by_products(const at::Tensor& flow, const at::Tensor& weight,
                                const ProductOptions& options, const CardKernels* kernels) {
  return Products::apply(flow, weight, options, kernels);
}

}  // namespace ebb::fl
