"""Reads runs that other tools have logged, and writes them as a results folder of Backplane."""
