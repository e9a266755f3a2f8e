"""The engine: plays items against models, records every reply, resumes, replays and judges."""
