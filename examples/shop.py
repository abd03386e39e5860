#!/usr/bin/env python3
"""A shop's web application on SQLite: pages, search, carts, orders, stock.

It is written as such applications usually are: a connection for each request, SQLite's default settings, a commit for each change,
and no index but those of keys. `bourse record -- python3 shop.py shop.db` records it. A first run makes the
database; `--operations 0` makes it only. Requests, their values and their times depend on the seed alone, their interleaving does not.
"""

import argparse
import os
import random
import sqlite3
import threading
import time

SCHEMA = """
CREATE TABLE product (id INTEGER PRIMARY KEY, name TEXT NOT NULL, category TEXT NOT NULL, description TEXT NOT NULL,
  price_cents INTEGER NOT NULL, stock INTEGER NOT NULL);
CREATE TABLE customer (id INTEGER PRIMARY KEY, email TEXT NOT NULL UNIQUE, name TEXT NOT NULL);
CREATE TABLE session (token TEXT PRIMARY KEY, customer_id INTEGER REFERENCES customer(id), seen INTEGER NOT NULL);
CREATE TABLE cart_item (id INTEGER PRIMARY KEY AUTOINCREMENT, session_token TEXT NOT NULL REFERENCES session(token),
  product_id INTEGER NOT NULL REFERENCES product(id), quantity INTEGER NOT NULL);
CREATE TABLE orders (id INTEGER PRIMARY KEY AUTOINCREMENT, customer_id INTEGER NOT NULL REFERENCES customer(id),
  created INTEGER NOT NULL, total_cents INTEGER NOT NULL, status TEXT NOT NULL);
CREATE TABLE order_item (id INTEGER PRIMARY KEY AUTOINCREMENT, order_id INTEGER NOT NULL REFERENCES orders(id),
  product_id INTEGER NOT NULL REFERENCES product(id), quantity INTEGER NOT NULL, price_cents INTEGER NOT NULL);
"""
PRODUCTS, CUSTOMERS, ORDERS, OPENING_TIME = 2_000, 1_000, 6_000, 1_700_000_000
COLOURS = ["amber", "black", "blue", "green", "grey", "ivory", "red", "white"]
MATERIALS = ["bamboo", "cotton", "glass", "leather", "oak", "steel", "stone", "wool"]
THINGS = ["basket", "bowl", "chair", "clock", "cup", "lamp", "mirror", "rug", "shelf", "table", "tray", "vase"]
CATEGORIES = ["bath", "garden", "kitchen", "living", "office"]


def create(path, seed):
    """Makes the shop's database, with products, customers and their orders until today."""
    rng = random.Random(seed)
    db = sqlite3.connect(path)
    db.executescript(SCHEMA)
    words = COLOURS + MATERIALS + THINGS
    for number in range(1, PRODUCTS + 1):
        name = " ".join(rng.choice(kind) for kind in (COLOURS, MATERIALS, THINGS))
        description = " ".join(rng.choice(words) for _ in range(60))
        price, stock = rng.randrange(300, 30_000), rng.randrange(20, 500)
        db.execute("INSERT INTO product VALUES (?, ?, ?, ?, ?, ?)",
                   (number, name, rng.choice(CATEGORIES), description, price, stock))
    for number in range(1, CUSTOMERS + 1):
        db.execute("INSERT INTO customer VALUES (?, ?, ?)", (number, f"customer{number}@example.org", f"Customer {number}"))
    for number in range(ORDERS):
        created = OPENING_TIME - (ORDERS - number) * 600
        order = db.execute("INSERT INTO orders (customer_id, created, total_cents, status) VALUES (?, ?, ?, 'sent')",
                           (rng.randint(1, CUSTOMERS), created, rng.randrange(300, 90_000))).lastrowid
        for _ in range(rng.randint(1, 4)):
            db.execute("INSERT INTO order_item (order_id, product_id, quantity, price_cents) VALUES (?, ?, ?, ?)",
                       (order, rng.randint(1, PRODUCTS), rng.randint(1, 3), rng.randrange(300, 30_000)))
    db.commit()
    db.close()


class Visitor:
    """A browser with its session; requests are methods, each with a connection of its own as in a web framework."""

    def __init__(self, path, seed):
        self.path, self.rng = path, random.Random(seed)
        self.now = OPENING_TIME
        self.leave()

    def leave(self):
        """Forgets the session: the next request is a new visitor's."""
        self.token, self.customer = f"{self.rng.getrandbits(128):032x}", None

    def request(self):
        """One request of the usual mix; its name."""
        self.now += self.rng.randint(1, 20)
        pages = [self.home, self.browse, self.product, self.search, self.add_to_cart, self.cart, self.order, self.account]
        page = self.rng.choices(pages, weights=[10, 20, 30, 12, 12, 8, 5, 3])[0]
        db = sqlite3.connect(self.path)
        try:
            self.touch_session(db)
            page(db)
        finally:
            db.close()
        if self.rng.random() < 0.02:
            self.leave()
        return page.__name__

    def touch_session(self, db):
        known = db.execute("SELECT customer_id FROM session WHERE token = ?", (self.token,)).fetchone()
        if known is None:
            db.execute("INSERT INTO session (token, customer_id, seen) VALUES (?, NULL, ?)", (self.token, self.now))
        else:
            db.execute("UPDATE session SET seen = ? WHERE token = ?", (self.now, self.token))
        db.commit()

    def any_product(self):
        # Few products have most visits.
        return 1 + int(PRODUCTS * self.rng.random() ** 3)

    def home(self, db):
        db.execute("SELECT p.id, p.name, p.price_cents, sum(i.quantity) AS sold FROM order_item i JOIN product p ON p.id = i.product_id "
                   "JOIN orders o ON o.id = i.order_id WHERE o.created > ? GROUP BY p.id ORDER BY sold DESC, p.id LIMIT 10",
                   (self.now - 7 * 86_400,)).fetchall()

    def browse(self, db):
        category, page = self.rng.choice(CATEGORIES), self.rng.choice([0, 0, 0, 1, 2])
        db.execute("SELECT count(*) FROM product WHERE category = ?", (category,)).fetchone()
        db.execute("SELECT id, name, price_cents, stock FROM product WHERE category = ? ORDER BY price_cents, id LIMIT 20 OFFSET ?",
                   (category, 20 * page)).fetchall()

    def product(self, db):
        product = self.any_product()
        db.execute("SELECT * FROM product WHERE id = ?", (product,)).fetchone()
        db.execute("SELECT DISTINCT p.id, p.name FROM order_item a JOIN order_item b ON b.order_id = a.order_id "
                   "JOIN product p ON p.id = b.product_id WHERE a.product_id = ? AND b.product_id <> a.product_id ORDER BY p.id LIMIT 5",
                   (product,)).fetchall()

    def search(self, db):
        word = f"%{self.rng.choice(MATERIALS)} {self.rng.choice(THINGS)}%"
        db.execute("SELECT id, name, price_cents FROM product WHERE name LIKE ? OR description LIKE ? ORDER BY name, id LIMIT 20",
                   (word, word)).fetchall()

    def add_to_cart(self, db):
        product = self.any_product()
        line = db.execute("SELECT id FROM cart_item WHERE session_token = ? AND product_id = ?", (self.token, product)).fetchone()
        if line:
            db.execute("UPDATE cart_item SET quantity = quantity + 1 WHERE id = ?", line)
        else:
            db.execute("INSERT INTO cart_item (session_token, product_id, quantity) VALUES (?, ?, 1)", (self.token, product))
        db.commit()

    def cart(self, db):
        return db.execute("SELECT c.product_id, c.quantity, p.name, p.price_cents, p.stock FROM cart_item c "
                          "JOIN product p ON p.id = c.product_id WHERE c.session_token = ? ORDER BY c.id", (self.token,)).fetchall()

    def sign_in(self, db):
        if self.customer is None:
            email = f"customer{self.rng.randint(1, CUSTOMERS)}@example.org"
            self.customer = db.execute("SELECT id FROM customer WHERE email = ?", (email,)).fetchone()[0]
            db.execute("UPDATE session SET customer_id = ? WHERE token = ?", (self.customer, self.token))
            db.commit()

    def order(self, db):
        self.sign_in(db)
        lines = self.cart(db)
        if not lines:
            return
        total = sum(quantity * price for _, quantity, _, price, _ in lines)
        order = db.execute("INSERT INTO orders (customer_id, created, total_cents, status) VALUES (?, ?, ?, 'new')",
                           (self.customer, self.now, total)).lastrowid
        for product, quantity, _, price, _ in lines:
            db.execute("INSERT INTO order_item (order_id, product_id, quantity, price_cents) VALUES (?, ?, ?, ?)",
                       (order, product, quantity, price))
            sold = db.execute("UPDATE product SET stock = stock - ? WHERE id = ? AND stock >= ?", (quantity, product, quantity))
            if sold.rowcount == 0:
                db.execute("UPDATE product SET stock = 500 WHERE id = ?", (product,))
        db.execute("DELETE FROM cart_item WHERE session_token = ?", (self.token,))
        db.commit()

    def account(self, db):
        self.sign_in(db)
        orders = db.execute("SELECT id, created, total_cents, status FROM orders WHERE customer_id = ? ORDER BY created DESC, id DESC LIMIT 5",
                            (self.customer,)).fetchall()
        for order, *_ in orders:
            db.execute("SELECT p.name, i.quantity, i.price_cents FROM order_item i JOIN product p ON p.id = i.product_id "
                       "WHERE i.order_id = ? ORDER BY i.id", (order,)).fetchall()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("database", help="file of the database; it is made if it does not exist")
    parser.add_argument("--operations", type=int, default=300, metavar="N", help="requests, of all threads together [%(default)s]")
    parser.add_argument("--seconds", type=float, default=60, metavar="S", help="end after this time at the latest [%(default)s]")
    parser.add_argument("--threads", type=int, default=4, metavar="N", help="threads that serve requests [%(default)s]")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="seed of all random choices [%(default)s]")
    options = parser.parse_args()
    if not os.path.exists(options.database):
        create(options.database, options.seed)
    ends, done = time.monotonic() + options.seconds, []

    def serve(thread):
        visitor = Visitor(options.database, f"{options.seed} {thread}")
        for _ in range(thread, options.operations, options.threads):
            if time.monotonic() > ends:
                break
            done.append(visitor.request())

    threads = [threading.Thread(target=serve, args=(number,)) for number in range(options.threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"{len(done)} requests: " + ", ".join(f"{done.count(name)} {name}" for name in sorted(set(done))))


if __name__ == "__main__":
    main()
