#!/usr/bin/env python3
"""The memory of an agent in SQLite: notes with tags, times and embeddings, found by words, by tags and by similarity.

It is written as such programs usually are: one connection in autocommit mode, SQLite's default settings, a commit for each statement,
embeddings as blobs that Python compares one by one. `bourse record -- python3 agent.py memory.db` records it. A
first run makes the memory; `--operations 0` makes it only. All statements and their values depend on the seed alone. Without FTS5 in
Python's SQLite words are found by LIKE.
"""

import argparse
import array
import os
import random
import sqlite3
import time
import zlib

SCHEMA = """
CREATE TABLE note (id INTEGER PRIMARY KEY AUTOINCREMENT, created INTEGER NOT NULL, kind TEXT NOT NULL, task TEXT NOT NULL,
  content TEXT NOT NULL, importance REAL NOT NULL, uses INTEGER NOT NULL DEFAULT 0, last_used INTEGER, summary_id INTEGER);
CREATE TABLE tag (note_id INTEGER NOT NULL REFERENCES note(id) ON DELETE CASCADE, name TEXT NOT NULL);
CREATE TABLE embedding (note_id INTEGER PRIMARY KEY REFERENCES note(id) ON DELETE CASCADE, vector BLOB NOT NULL);
"""
WORD_INDEX = "CREATE VIRTUAL TABLE note_words USING fts5(content)"
NOTES, DIMENSIONS, TASKS, HOUR, START = 1_500, 384, 40, 3_600, 1_700_000_000
WORDS = ["api", "bug", "build", "cache", "calendar", "call", "client", "config", "contract", "customer", "deadline", "deploy", "design",
         "draft", "email", "error", "file", "fix", "flight", "hotel", "idea", "index", "invoice", "key", "log", "meeting", "memory",
         "message", "model", "note", "offer", "order", "parser", "plan", "price", "query", "release", "report", "request", "review",
         "schema", "server", "source", "table", "team", "test", "ticket", "token", "tool", "user", "version", "web"]
TAGS = ["decision", "error", "fact", "file", "open", "person", "plan", "preference", "result", "todo"]


def embed(text):
    """A vector of a text: sums of a fixed random vector for each word, in place of a model's."""
    vector = [0.0] * DIMENSIONS
    for word in text.split():
        rng = random.Random(zlib.crc32(word.encode()))
        vector = [value + rng.random() - 0.5 for value in vector]
    length = sum(value * value for value in vector) ** 0.5 or 1.0
    return array.array("f", (value / length for value in vector))


class Memory:
    """What the agent calls between two messages."""

    def __init__(self, path, seed):
        self.db = sqlite3.connect(path, isolation_level=None)
        self.rng, self.now = random.Random(seed), START

    def prepare(self):
        self.db.executescript(SCHEMA)
        try:
            self.db.execute(WORD_INDEX)
        except sqlite3.OperationalError:
            pass  # This SQLite has no FTS5.

    def has_word_index(self):
        return self.db.execute("SELECT 1 FROM sqlite_master WHERE name = 'note_words'").fetchone() is not None

    def text(self, words):
        return " ".join(self.rng.choice(WORDS) for _ in range(words))

    def remember(self, kind="observation", content=None, task=None):
        """Stores a note with its tags, its embedding and its words."""
        self.now += self.rng.randint(1, 90)
        content = content or self.text(self.rng.randint(8, 60))
        task = task or f"task-{self.rng.randint(1, TASKS)}"
        note = self.db.execute("INSERT INTO note (created, kind, task, content, importance) VALUES (?, ?, ?, ?, ?)",
                               (self.now, kind, task, content, round(self.rng.random(), 3))).lastrowid
        for tag in self.rng.sample(TAGS, self.rng.randint(1, 3)):
            self.db.execute("INSERT INTO tag VALUES (?, ?)", (note, tag))
        self.db.execute("INSERT INTO embedding VALUES (?, ?)", (note, embed(content).tobytes()))
        if self.has_word_index():
            self.db.execute("INSERT INTO note_words (rowid, content) VALUES (?, ?)", (note, content))
        return note

    def use(self, notes):
        for note in notes:
            self.db.execute("UPDATE note SET uses = uses + 1, last_used = ? WHERE id = ?", (self.now, note))

    def recall_by_words(self):
        words = [self.rng.choice(WORDS) for _ in range(3)]
        if self.has_word_index():
            found = self.db.execute("SELECT n.id, n.content FROM note_words w JOIN note n ON n.id = w.rowid WHERE note_words MATCH ? "
                                    "ORDER BY w.rank, n.id LIMIT 5", (" OR ".join(words),)).fetchall()
        else:
            found = self.db.execute("SELECT id, content FROM note WHERE content LIKE ? OR content LIKE ? OR content LIKE ? "
                                    "ORDER BY created DESC, id LIMIT 5", [f"%{word}%" for word in words]).fetchall()
        self.use(note for note, _ in found)

    def recall_by_tag(self):
        found = self.db.execute("SELECT n.id, n.content FROM note n JOIN tag t ON t.note_id = n.id WHERE t.name = ? AND n.task = ? "
                                "ORDER BY n.created DESC, n.id LIMIT 10", (self.rng.choice(TAGS), f"task-{self.rng.randint(1, TASKS)}")).fetchall()
        self.use(note for note, _ in found)

    def recall_similar(self):
        """The five notes whose embeddings are nearest to a question's: all of them are read."""
        question = embed(self.text(6))
        near = []
        for note, vector in self.db.execute("SELECT note_id, vector FROM embedding"):
            near.append((sum(map(float.__mul__, question, array.array("f", vector))), note))
        nearest = [note for _, note in sorted(near, reverse=True)[:5]]
        for note in nearest:
            self.db.execute("SELECT content, kind, task FROM note WHERE id = ?", (note,)).fetchone()
        self.use(nearest)

    def context(self):
        """What goes into the next message: the latest notes of the task, and the most important ones."""
        task = f"task-{self.rng.randint(1, TASKS)}"
        self.db.execute("SELECT id, kind, content FROM note WHERE task = ? AND summary_id IS NULL ORDER BY created DESC, id DESC LIMIT 20",
                        (task,)).fetchall()
        self.db.execute("SELECT id, content FROM note WHERE kind = 'summary' ORDER BY importance DESC, id LIMIT 5").fetchall()
        self.db.execute("SELECT t.name, count(*) FROM tag t JOIN note n ON n.id = t.note_id WHERE n.task = ? GROUP BY t.name ORDER BY t.name",
                        (task,)).fetchall()

    def summarise(self):
        """The oldest notes of a task become one."""
        task = f"task-{self.rng.randint(1, TASKS)}"
        notes = self.db.execute("SELECT id, content FROM note WHERE task = ? AND summary_id IS NULL AND kind <> 'summary' "
                                "ORDER BY created, id LIMIT 8", (task,)).fetchall()
        if notes:
            words = " ".join(content for _, content in notes).split()
            summary = self.remember("summary", " ".join(self.rng.sample(words, min(30, len(words)))), task)
            for note, _ in notes:
                self.db.execute("UPDATE note SET summary_id = ? WHERE id = ?", (summary, note))

    def prune(self):
        """Notes that are summarised, unimportant and unused are forgotten."""
        self.now += HOUR
        notes = self.db.execute("SELECT id FROM note WHERE summary_id IS NOT NULL AND importance < 0.5 AND uses < 3 "
                                "ORDER BY created, id LIMIT 20").fetchall()
        for (note,) in notes:
            if self.has_word_index():
                self.db.execute("DELETE FROM note_words WHERE rowid = ?", (note,))
            self.db.execute("DELETE FROM tag WHERE note_id = ?", (note,))
            self.db.execute("DELETE FROM embedding WHERE note_id = ?", (note,))
            self.db.execute("DELETE FROM note WHERE id = ?", (note,))


def create(path, seed):
    """Makes a memory with the notes of some days."""
    memory = Memory(path, seed)
    memory.prepare()
    memory.db.execute("BEGIN")
    for _ in range(NOTES):
        memory.remember()
    memory.db.execute("COMMIT")
    memory.db.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("database", help="file of the memory; it is made if it does not exist")
    parser.add_argument("--operations", type=int, default=200, metavar="N", help="calls of the memory [%(default)s]")
    parser.add_argument("--seconds", type=float, default=60, metavar="S", help="end after this time at the latest [%(default)s]")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="seed of all random choices [%(default)s]")
    options = parser.parse_args()
    if not os.path.exists(options.database):
        create(options.database, options.seed)
    memory, ends, done = Memory(options.database, f"{options.seed} agent"), time.monotonic() + options.seconds, []
    calls = [memory.remember, memory.recall_by_words, memory.recall_by_tag, memory.recall_similar, memory.context, memory.summarise]
    for number in range(1, options.operations + 1):
        if time.monotonic() > ends:
            break
        call = memory.prune if number % 50 == 0 else memory.rng.choices(calls, [35, 15, 10, 8, 28, 4])[0]
        call()
        done.append(call.__name__)
    memory.db.close()
    print(f"{len(done)} calls: " + ", ".join(f"{done.count(name)} {name}" for name in sorted(set(done))))


if __name__ == "__main__":
    main()
