"""What every room may use: errors, seeding, memory, processes, declared files, plug-ins."""
