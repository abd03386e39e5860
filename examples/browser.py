#!/usr/bin/env python3
"""A browser's profile in SQLite: history, bookmarks, cookies, icons, and the suggestions of the address bar.

It is written as such programs usually are: one connection that writes and one that suggests, SQLite's default settings, a transaction
for each visited page and each server's cookies. `bourse record -- python3 browser.py profile.db` records it.
A first run makes the profile; `--operations 0` makes it only. All statements and their values depend on the seed alone.
"""

import argparse
import os
import random
import sqlite3
import time

SCHEMA = """
CREATE TABLE place (id INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE, title TEXT, host TEXT NOT NULL,
  visit_count INTEGER NOT NULL DEFAULT 0, typed INTEGER NOT NULL DEFAULT 0, frecency INTEGER NOT NULL DEFAULT -1, last_visit INTEGER);
CREATE INDEX place_frecency ON place (frecency);
CREATE TABLE visit (id INTEGER PRIMARY KEY, place_id INTEGER NOT NULL, from_visit INTEGER, visited INTEGER NOT NULL,
  kind INTEGER NOT NULL);
CREATE INDEX visit_place ON visit (place_id, visited);
CREATE TABLE bookmark (id INTEGER PRIMARY KEY, place_id INTEGER NOT NULL, parent INTEGER NOT NULL, position INTEGER NOT NULL,
  title TEXT, added INTEGER NOT NULL);
CREATE TABLE cookie (id INTEGER PRIMARY KEY, host TEXT NOT NULL, name TEXT NOT NULL, path TEXT NOT NULL, value TEXT NOT NULL,
  expires INTEGER NOT NULL, used INTEGER NOT NULL, UNIQUE (host, name, path));
CREATE TABLE icon (id INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE, expires INTEGER NOT NULL, image BLOB NOT NULL);
CREATE TABLE place_icon (place_id INTEGER NOT NULL, icon_id INTEGER NOT NULL, PRIMARY KEY (place_id, icon_id)) WITHOUT ROWID;
"""
HOSTS, PAGES, VISITS, DAY, TODAY = 400, 8_000, 25_000, 86_400, 1_700_000_000
WORDS = ["account", "album", "article", "bank", "blog", "book", "city", "code", "cook", "data", "film", "flight", "forum", "game",
         "garden", "guide", "help", "home", "image", "index", "list", "mail", "map", "music", "news", "page", "photo", "post", "recipe",
         "report", "review", "school", "search", "shop", "sport", "story", "table", "travel", "video", "weather"]
LINK, TYPED, BOOKMARK = 1, 2, 3
# Points of a visit by its kind; the address bar orders by their mean over the last ten, weighted by age.
BONUS = {LINK: 100, TYPED: 2_000, BOOKMARK: 75}


class Profile:
    """The profile's connections, and a person who browses."""

    def __init__(self, path, seed):
        self.db = sqlite3.connect(path)
        self.suggestions = sqlite3.connect(path)
        self.rng = random.Random(seed)
        self.now, self.last = TODAY, None

    def close(self):
        self.suggestions.close()
        self.db.close()

    def page(self):
        """A page, of which few have most visits: its host, URL and title."""
        number = int(PAGES * self.rng.random() ** 3)
        words = random.Random(number)
        host = f"www.{words.choice(WORDS)}{number % HOSTS}.example"
        path = "-".join(words.choice(WORDS) for _ in range(3))
        return host, f"https://{host}/{path}/{number}", f"{path.replace('-', ' ').title()} {number}"

    def record_visit(self, kind, at):
        """Writes a visit; the page's row and its frecency are brought up to date. The caller commits."""
        host, url, title = self.page()
        self.db.execute("INSERT OR IGNORE INTO place (url, title, host) VALUES (?, ?, ?)", (url, title, host))
        place = self.db.execute("SELECT id FROM place WHERE url = ?", (url,)).fetchone()[0]
        self.last = self.db.execute("INSERT INTO visit (place_id, from_visit, visited, kind) VALUES (?, ?, ?, ?)",
                                    (place, self.last, at, kind)).lastrowid
        self.db.execute("UPDATE place SET visit_count = visit_count + 1, typed = typed + ?, last_visit = ?, title = ? WHERE id = ?",
                        (int(kind == TYPED), at, title, place))
        self.update_frecency(place, at)
        return place, host

    def update_frecency(self, place, at):
        recent = self.db.execute("SELECT visited, kind FROM visit WHERE place_id = ? ORDER BY visited DESC, id DESC LIMIT 10",
                                 (place,)).fetchall()
        count = self.db.execute("SELECT visit_count FROM place WHERE id = ?", (place,)).fetchone()[0]
        points = sum(BONUS[kind] * (100 if at - visited < 4 * DAY else 70 if at - visited < 14 * DAY else 30) / 100
                     for visited, kind in recent)
        self.db.execute("UPDATE place SET frecency = ? WHERE id = ?", (round(count * points / max(1, len(recent))), place))

    def open_page(self, kind=LINK):
        """A page is opened: visit, cookies of its server, icon."""
        self.now += self.rng.randint(5, 300)
        place, host = self.record_visit(kind, self.now)
        self.db.commit()
        cookies = self.db.execute("SELECT id, name, value, path FROM cookie WHERE host = ? AND expires > ? ORDER BY length(path) DESC, id",
                                  (host, self.now)).fetchall()
        for cookie, *_ in cookies:
            self.db.execute("UPDATE cookie SET used = ? WHERE id = ?", (self.now, cookie))
        if self.rng.random() < 0.5:
            self.set_cookie(host, self.now)
        self.db.commit()
        self.show_icon(place, host)

    def set_cookie(self, host, at):
        lasts = self.rng.choice([600, DAY, 30 * DAY, 365 * DAY])
        self.db.execute("INSERT INTO cookie (host, name, path, value, expires, used) VALUES (?, ?, '/', ?, ?, ?) "
                        "ON CONFLICT (host, name, path) DO UPDATE SET value = excluded.value, expires = excluded.expires, used = excluded.used",
                        (host, self.rng.choice(["id", "session", "lang", "seen", "_t"]), f"{self.rng.getrandbits(256):064x}", at + lasts, at))

    def show_icon(self, place, host):
        url = f"https://{host}/favicon.png"
        icon = self.db.execute("SELECT id, expires, image FROM icon WHERE url = ?", (url,)).fetchone()
        if icon is None:
            image = self.rng.randbytes(self.rng.randint(400, 6_000))
            icon = (self.db.execute("INSERT INTO icon (url, expires, image) VALUES (?, ?, ?)", (url, self.now + 7 * DAY, image)).lastrowid,)
        self.db.execute("INSERT OR IGNORE INTO place_icon VALUES (?, ?)", (place, icon[0]))
        self.db.commit()

    def type_address(self):
        """Letters are typed into the address bar, each with its suggestions; then a page is opened."""
        host, _, title = self.page()
        typed = self.rng.choice([host.removeprefix("www."), title.lower()])
        for length in range(1, self.rng.randint(3, 9)):
            self.suggestions.execute("SELECT id, url, title FROM place WHERE url LIKE ? OR title LIKE ? ORDER BY frecency DESC, id LIMIT 10",
                                     (f"%{typed[:length]}%", f"%{typed[:length]}%")).fetchall()
        self.open_page(TYPED)

    def open_bookmark(self):
        folder = self.rng.randint(1, 8)
        self.suggestions.execute("SELECT b.id, b.title, p.url FROM bookmark b JOIN place p ON p.id = b.place_id WHERE b.parent = ? "
                                 "ORDER BY b.position, b.id", (folder,)).fetchall()
        self.open_page(BOOKMARK)

    def add_bookmark(self):
        place = self.db.execute("SELECT id, title FROM place ORDER BY last_visit DESC, id LIMIT 1").fetchone()
        if self.db.execute("SELECT 1 FROM bookmark WHERE place_id = ?", place[:1]).fetchone() is None:
            folder = self.rng.randint(1, 8)
            position = self.db.execute("SELECT coalesce(max(position), 0) + 1 FROM bookmark WHERE parent = ?", (folder,)).fetchone()[0]
            self.db.execute("INSERT INTO bookmark (place_id, parent, position, title, added) VALUES (?, ?, ?, ?, ?)",
                            (place[0], folder, position, place[1], self.now))
        self.db.commit()

    def show_history(self):
        self.suggestions.execute("SELECT v.visited, p.url, p.title FROM visit v JOIN place p ON p.id = v.place_id WHERE v.visited > ? "
                                 "ORDER BY v.visited DESC, v.id DESC LIMIT 100", (self.now - DAY,)).fetchall()

    def expire(self):
        """Old visits, pages without visits, and cookies that have expired are removed."""
        self.now += DAY // 4
        self.db.execute("DELETE FROM visit WHERE visited < ?", (self.now - 90 * DAY,))
        self.db.execute("DELETE FROM place WHERE id NOT IN (SELECT place_id FROM visit) AND id NOT IN (SELECT place_id FROM bookmark)")
        self.db.execute("DELETE FROM place_icon WHERE place_id NOT IN (SELECT id FROM place)")
        self.db.execute("DELETE FROM icon WHERE id NOT IN (SELECT icon_id FROM place_icon)")
        self.db.execute("DELETE FROM cookie WHERE expires < ?", (self.now,))
        self.db.commit()


def create(path, seed):
    """Makes a profile with the visits of the last ninety days."""
    profile = Profile(path, seed)
    profile.db.executescript(SCHEMA)
    for number in range(VISITS):
        at = TODAY - (VISITS - number) * 90 * DAY // VISITS
        place, host = profile.record_visit(profile.rng.choices([LINK, TYPED, BOOKMARK], [80, 15, 5])[0], at)
        if number % 12 == 0:
            profile.set_cookie(host, at)
        if number % 100 == 0:
            profile.db.execute("INSERT INTO bookmark (place_id, parent, position, title, added) VALUES (?, ?, ?, ?, ?)",
                               (place, 1 + number // 100 % 8, number, f"Bookmark {number}", at))
    profile.db.commit()
    profile.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("database", help="file of the profile; it is made if it does not exist")
    parser.add_argument("--operations", type=int, default=300, metavar="N", help="things that the person does [%(default)s]")
    parser.add_argument("--seconds", type=float, default=60, metavar="S", help="end after this time at the latest [%(default)s]")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="seed of all random choices [%(default)s]")
    options = parser.parse_args()
    if not os.path.exists(options.database):
        create(options.database, options.seed)
    profile, ends, done = Profile(options.database, f"{options.seed} person"), time.monotonic() + options.seconds, []
    actions = [profile.open_page, profile.type_address, profile.open_bookmark, profile.add_bookmark, profile.show_history]
    for number in range(1, options.operations + 1):
        if time.monotonic() > ends:
            break
        action = profile.expire if number % 100 == 0 else profile.rng.choices(actions, [60, 25, 8, 3, 4])[0]
        action()
        done.append(action.__name__)
    profile.close()
    print(f"{len(done)} operations: " + ", ".join(f"{done.count(name)} {name}" for name in sorted(set(done))))


if __name__ == "__main__":
    main()
