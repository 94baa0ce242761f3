# SPDX-License-Identifier: Apache-2.0
"""A DataLoader with two workers whose collate function keeps a copy of every batch.

  leaking_loader.py SECONDS
"""
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset

seen = []


class Pictures(Dataset):
    def __len__(self):
        return 1_000_000

    def __getitem__(self, index):
        return torch.full((3, 32, 32), float(index % 10)), index % 10


def collate(batch):
    pictures = torch.stack([picture for picture, _ in batch])
    seen.append(pictures.clone())
    return pictures, torch.tensor([label for _, label in batch])


if __name__ == "__main__":
    end = time.monotonic() + float(sys.argv[1])
    network = torch.nn.Linear(3 * 32 * 32, 10)
    for x, y in DataLoader(Pictures(), batch_size=64, num_workers=2, collate_fn=collate):
        torch.nn.functional.cross_entropy(network(x.flatten(1)), y).backward()
        time.sleep(0.02)
        if time.monotonic() > end:
            break
