#!/usr/bin/env python3
"""Writes the trials of a results folder as runs of W&B, MLflow or Trackio. `backplane export wandb` starts it.

  backplane-export-runs.py wandb|mlflow|trackio OUT FOLDER [--follow]
"""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

from backplane_runs.export import main  # noqa: E402

sys.exit(main(sys.argv[1:]))
