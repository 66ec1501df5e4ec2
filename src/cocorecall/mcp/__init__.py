"""The MCP server: what `recall` answers on the command line, as tools of an agent.

`server` speaks the protocol (the SDK's low-level server, standard input and output); `tools` lists what can be
called; `arguments` and `schemas` say what goes in and out; `answers` words it, `quoting` fences what is quoted,
`pages` cuts it to a budget; `place` finds the index by the client's roots.
"""
