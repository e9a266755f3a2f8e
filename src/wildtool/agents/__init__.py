"""Agents as the subject of a run: a program around a model plays the sessions, and both of its doors are ours.

The *model door* is where its calls to a model arrive, the *tool door* where it executes tools. `AgentModel` makes one
model of both for the engine: what the agent's model said is the reply to a request of the benchmark, and what the next
request holds is what the tool door answers.
"""
