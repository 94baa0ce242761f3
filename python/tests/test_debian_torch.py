# SPDX-License-Identifier: Apache-2.0
"""With Debian's PyTorch, which is built without CUDA: the package works and says what needs CUDA."""
import unittest

from support import debian_python


class WithoutCuda(unittest.TestCase):
    def test_cleanups_work_beside_tensors(self):
        said = debian_python("""
import torch, ebb
tensors = [torch.ones(1 << 20) for _ in range(40)]
del tensors
kept = [torch.ones(2000) for _ in range(20000)][::200]
report = ebb.cleanup_memory(cuda_empty_cache=True)
print(report.returned_bytes >> 20 > 100, all(step.ok for step in report.steps))
print(float(sum(tensor.sum() for tensor in kept)))
""")
        self.assertEqual(said, "True True\n200000.0")

    def test_what_needs_cuda_says_so(self):
        said = debian_python("""
import torch, ebb, ebb.torch
for call in (ebb.torch.install, ebb.torch.memory_stats, ebb.torch.record, ebb.torch.dump_on_oom):
    try:
        call()
    except ebb.NeedsCuda as error:
        print(isinstance(error, ebb.Error), error)
""")
        lines = said.splitlines()
        self.assertEqual(len(lines), 4)
        for name, line in zip(("install()", "memory_stats()", "record()", "dump_on_oom()"), lines):
            self.assertRegex(line, rf"^True {name[:-2]}\(\) needs PyTorch for CUDA: this is PyTorch "
                                   r"\S+, built without it; cleanups and everything else of Ebb work$")

    def test_csfls_figures_leave_the_gpu_out(self):
        self.assertEqual(debian_python("""
import torch
from ebb.compat import csfl
print(sorted(key for key in csfl.get_memory_info() if key.startswith("gpu")))
"""), "[]")

    def test_a_keeper_trains(self):
        said = debian_python("""
import torch, ebb
model = torch.nn.Linear(64, 64)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
keeper = ebb.RoundKeeper("trainer", every=2)
@keeper
def train():
    optimizer.zero_grad()
    loss = model(torch.ones(8, 64)).square().mean()
    loss.backward()
    optimizer.step()
    return float(loss)
losses = [train() for _ in range(4)]
print(losses[-1] < losses[0], keeper.last_report is not None)
""")
        self.assertEqual(said, "True True")


if __name__ == "__main__":
    unittest.main()
