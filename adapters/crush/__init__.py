"""Crush: one database per project, and a list of the projects.

Where:   <project>/.crush/crush.db; projects.json in ~/.local/share/crush, on Windows
         in %LOCALAPPDATA%/crush, says which projects there are and which of them keep
         it elsewhere. CRUSH_GLOBAL_DATA moves the list.
Seen:    nothing real; tables and parts as Crush's own source has them (August 2026).
Trap:    prompt_tokens and completion_tokens are those of the last step: a gauge of the
         context, never a total. The cost is a total, and a subagent's is added to its
         parent's when it has finished. Times are seconds, in old rows milliseconds.
Missing: tokens: nothing on disk has them, so there is only the cost, 0 where a plan
         includes it. The folder of a project whose database lies elsewhere than in
         .crush. A list in a home of another place (a backup) is read as if its
         projects were below that home.
"""
