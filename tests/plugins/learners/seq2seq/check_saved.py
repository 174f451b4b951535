"""Loads a folder that learner.seq2seq saved with transformers, saves it again, and compares the two.

    pip install torch==2.13.0 transformers==5.23.0
    python check_saved.py FOLDER [FOLDER_TO_WRITE]

Not part of the test suite, because torch and transformers need 0.5 GB. The suite compares with recorded numbers of transformers.
"""

import sys

import torch
from safetensors.torch import load_file
from transformers import BartForConditionalGeneration

model, report = BartForConditionalGeneration.from_pretrained(sys.argv[1], output_loading_info=True)
bad = {key: value for key, value in report.items() if value}
assert not bad, bad
stored, loaded = load_file(sys.argv[1] + "/model.safetensors"), model.state_dict()
for name, tensor in stored.items():
    assert torch.equal(tensor, loaded[name]), name
print(f"{len(stored)} tensors, {model.num_parameters():,} parameters: all as they were saved")
if len(sys.argv) > 2:
    model.save_pretrained(sys.argv[2])
