"""Foundations that every room may import: errors, seeding, memory, processes, declared files, plug-ins."""
