"""Tools made by models over a tree of domains, and tools put together by what they have in common.

After ACEBench (section 3.2: API synthesis), ToolACE (speciation, adaptation, evolution) and ToolFlow (graph of tools).
"""
