"""SQL: what the data means. One file, one query, one table or view.

Here:   `core/` (one truth per entity, in folders by theme), `marts/` (questions,
        answered) and `checks/` (queries that return bad rows). Layer and file make
        the name: `core/messages/messages.sql` makes `core.messages`.
Not:    Jinja, and code that reads files. The runner is
        `pipelines/transform`.
Start:  `README.md` for the header and the naming, `core/messages/messages.sql`
        for an example. This module only tells Python where the files are.
"""

from pathlib import Path

SQL_DIR = Path(__file__).parent
