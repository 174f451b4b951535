#!/usr/bin/env python3
"""Imports runs of other tools into a results folder. `backplane import` starts it.

  backplane-import.py PATH... [--to OUT] [--name PATTERN] [--seed-key KEY] [--metric NAME] [--direction up|down] ...
"""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

from backplane_runs.command import main  # noqa: E402

sys.exit(main(sys.argv[1:]))
