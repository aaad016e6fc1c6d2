"""An agent that writes OpenCode's tables as fast as it can, in one of their dialects.

Run alone, without the project: `python opencode_writer.py FILE DIALECT SEED`. It never
checkpoints. Lines on stdin are answered: `mark` remembers how far it is, `loaded` says
that all up to the mark has been read (only that may be deleted), `rest` finishes what
is being written, answers with what each session has cost, and keeps the file open.
"""

import json
import random
import select
import sqlite3
import sys

MODEL = {"modelID": "claude-sonnet-4-5", "providerID": "anthropic"}


class Agent:
    def __init__(self, path, dialect, seed):
        self.database = sqlite3.connect(path, isolation_level=None, timeout=10)
        self.database.execute("pragma journal_mode = wal")
        self.database.execute("pragma wal_autocheckpoint = 0")
        self.dialect = dialect
        self.order = random.Random(seed)
        self.now = 1_790_000_000_000
        self.ids = 0
        self.sessions = {}  # id: messages in order, [id, user id, created, tokens, op]
        self.running = []  # session, message
        self.cost = {}
        self.ops = self.marked = self.safe = 0

    def tick(self, by=7):
        self.now += by
        return self.now

    def name(self, kind):
        self.ids += 1
        return f"{kind}_{self.ids:06}"

    def put(self, table, **row):
        marks = ", ".join("?" * len(row))
        self.database.execute(
            f"insert into {table} ({', '.join(row)}) values ({marks})",
            [json.dumps(it) if isinstance(it, dict) else it for it in row.values()],
        )

    def set(self, table, id_, **row):
        sets = ", ".join(f"{name} = ?" for name in row)
        self.database.execute(
            f"update {table} set {sets} where id = ?",
            [*(json.dumps(v) if isinstance(v, dict) else v for v in row.values()), id_],
        )

    def new_session(self, id_, title, fork_of=None):
        at = self.tick()
        row = {"id": id_, "title": title, "directory": "/home/ada/shop"}
        row |= {
            "time_created": at,
            "time_updated": at,
            "slug": id_,
            "version": "1.18.0",
        }
        row["project_id"] = "prj_shop"
        if self.dialect == "zcode" and fork_of:
            row["task_type"] = "fork"
        if self.dialect == "v2":
            row |= {"version": "2.0.4", "fork_session_id": fork_of}
        self.put("session_v2" if self.dialect == "v2" else "session", **row)
        self.sessions[id_] = []

    def row(self, id_, session, *, seq, at, data, kind):
        """A message, as each dialect has it."""
        row = {"id": id_, "session_id": session, "time_created": at}
        row |= {"time_updated": self.now, "data": data}
        if self.dialect == "v2":
            self.put("session_message", seq=seq, type=kind, **row)
        elif self.dialect == "zcode":
            self.put("message", sequence=seq, **row)
        else:
            self.put("message", **row)

    def part(self, message, session, data):
        id_ = self.name("prt")
        row = {"id": id_, "message_id": message, "session_id": session, "data": data}
        self.put("part", time_created=self.now, time_updated=self.now, **row)
        return id_

    def reply(self, created, tokens=None, parent=None):
        data = {"time": {"created": created}, "cost": 0, "agent": "build"}
        data["tokens"] = tokens or counts(0, 0, 0)
        if self.dialect == "v2":
            data |= {"model": {"id": MODEL["modelID"], "providerID": "anthropic"}}
            data["content"] = [{"type": "text", "text": "so"}] if tokens else []
        else:
            data |= MODEL | {"role": "assistant", "parentID": parent}
        if tokens:
            data["time"]["completed"] = created + 900
        return data

    def say(self, session):
        """A prompt, and a reply that begins: empty, to be filled in place."""
        messages = self.sessions[session]
        seq, user, message = len(messages) * 2, self.name("msg"), self.name("msg")
        at = self.tick()
        prompt = {"role": "user", "time": {"created": at}, "text": user}
        self.row(user, session, seq=seq, at=at, data=prompt, kind="user")
        if self.dialect != "v2":
            self.part(user, session, {"type": "text", "text": user})
        at = self.tick()
        reply = self.reply(at, None, user)
        self.row(message, session, seq=seq + 1, at=at, data=reply, kind="assistant")
        text = None
        if self.dialect != "v2":
            text = self.part(message, session, {"type": "text", "text": ""})
        attempt = self.name("req") if self.dialect == "zcode" else None
        if attempt:
            self.put(
                "model_usage", id=attempt, session_id=session, status="running",
                assistant_message_id=message, started_at=at,
            )  # fmt: skip
        one = [message, user, at, None, 0]
        messages.append(one)
        self.running.append((session, one, text, attempt))

    def finish(self, session, one, text, attempt):
        message, user, at, _, _ = one
        tokens = counts(*(self.order.randrange(1, 1000) for _ in range(3)))
        one[3:] = tokens, self.ops
        self.tick()
        data = self.reply(at, tokens, user)
        if self.dialect == "v2":
            self.set("session_message", message, data=data, time_updated=self.now)
        else:
            said = {"type": "text", "text": "so"}
            self.set("part", text, data=said, time_updated=self.now)
            self.part(message, session, step(tokens))
            self.set("message", message, data=data, time_updated=self.now)
        if attempt:
            self.set(
                "model_usage", attempt, status="completed", completed_at=self.now,
                input_tokens=tokens["input"] + tokens["cache"]["read"],
                output_tokens=tokens["output"],
                cache_read_input_tokens=tokens["cache"]["read"],
            )  # fmt: skip
        spent = self.cost.setdefault(session, [0, 0, 0, 0])
        for at, number in enumerate(
            (1, tokens["input"], tokens["output"], tokens["cache"]["read"])
        ):
            spent[at] += number

    def fork(self, session):
        """Ids are new, times and counts are not."""
        copy = self.name("ses")
        self.tick(1000)
        self.new_session(copy, "Sell tea (fork #1)", session)
        for seq, (_, user, at, tokens, _) in enumerate(self.sessions[session]):
            if tokens is None:
                break
            ids = [self.name("msg"), self.name("msg")]
            prompt = {"role": "user", "time": {"created": at - 7}, "text": user}
            self.row(ids[0], copy, seq=seq * 2, at=at - 7, data=prompt, kind="user")
            data = self.reply(at, tokens, ids[0])
            self.row(ids[1], copy, seq=seq * 2 + 1, at=at, data=data, kind="assistant")
            if self.dialect != "v2":
                self.part(ids[0], copy, {"type": "text", "text": user})
                self.part(ids[1], copy, {"type": "text", "text": "so"})
                self.part(ids[1], copy, step(tokens))
            self.sessions[copy].append([ids[1], ids[0], at, tokens, self.ops])

    def revert(self):
        """The end of a session is deleted, of one of which a load has seen it."""
        seen = [it for it in self.sessions.values() if it and it[-1][4] < self.safe]
        messages = self.order.choice(seen) if seen else []
        table = "session_message" if self.dialect == "v2" else "message"
        while messages and messages[-1][3] and messages[-1][4] < self.safe:
            message, user, *_ = messages.pop()
            for id_ in (message, user):
                self.database.execute(f"delete from {table} where id = ?", [id_])
                if self.dialect != "v2":
                    self.database.execute(
                        "delete from part where message_id = ?", [id_]
                    )
            if self.dialect == "zcode":
                self.database.execute(
                    "delete from model_usage where assistant_message_id = ?", [message]
                )
            if self.order.random() < 0.5:
                break

    def act(self):
        self.ops += 1
        self.database.execute("begin immediate")
        session = self.order.choice([*list(self.sessions)[-5:], None])
        chance = self.order.random()
        if session is None or not self.sessions[session]:
            if session is None:
                session = self.name("ses")
                self.new_session(session, "Sell tea")
            self.say(session)
        elif chance < 0.5 and self.running:
            at = self.order.randrange(len(self.running))
            self.finish(*self.running.pop(at))
        elif chance < 0.6 and len(self.sessions) < 60:
            self.fork(session)
        elif chance < 0.7:
            self.revert()
        elif self.sessions[session][-1][3]:
            self.say(session)
        self.database.execute("commit")

    def rest(self):
        while self.running:
            self.ops += 1
            self.database.execute("begin immediate")
            self.finish(*self.running.pop())
            self.database.execute("commit")
        return self.cost


def counts(read, written, said):
    cache = {"read": read, "write": 0}
    return {"input": written, "output": said, "reasoning": 0, "cache": cache}


def step(tokens):
    return {"type": "step-finish", "reason": "stop", "cost": 0, "tokens": tokens}


def main(path, dialect, seed):
    agent = Agent(path, dialect, seed)
    is_resting = False
    while True:
        told = select.select([sys.stdin], [], [], None if is_resting else 0.01)[0]
        word = sys.stdin.readline().strip() if told else ""
        answer = "ok"
        if word == "mark":
            agent.marked = agent.ops
        elif word == "loaded":
            agent.safe = agent.marked
        elif word == "rest":
            is_resting, answer = True, agent.rest()
        elif told:
            return
        if told:
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()
        elif not is_resting:
            agent.act()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
