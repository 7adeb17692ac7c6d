"""Ctrl-C while a pool of threads is at work: the process ends at once, since compiled code cannot be stopped."""

import os
import signal
from multiprocessing.pool import ThreadPool
from threading import Event

import pytest

from pucli import __main__ as command


@pytest.fixture
def ended(monkeypatch):
    codes = []
    monkeypatch.setattr(os, "_exit", codes.append)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    return codes


def test_threads_at_work_are_left_by_ending_the_process(ended, monkeypatch):
    monkeypatch.setattr("pucli.cli.main.main", lambda: 130)
    done = Event()
    with ThreadPool(1) as pool:
        pool.apply_async(done.wait, (60,))
        command.main()
        done.set()
    assert ended == [130]


@pytest.mark.parametrize("code", [0, 130])
def test_without_them_python_ends_as_usual(ended, monkeypatch, code):
    monkeypatch.setattr("pucli.cli.main.main", lambda: code)
    monkeypatch.setattr(command, "_threads_at_work", lambda: code == 0)
    assert command.main() == code
    assert ended == []
