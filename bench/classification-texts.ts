/** Texts of one kind, another one with each number, as Knex hands them on. */
export type TextMaker = (number: number) => string;

/** Texts that an application sends, by kind. */
export const textKinds: Readonly<Record<string, TextMaker>> = {
  'read by primary key': (n) => `select * from "books" where "id" = ? and "year" <> ${n} limit ?`,
  'join of three tables': (n) =>
    `select "books"."id", "books"."title", "authors"."name" as "author", ${n} as "n" from "books" inner join "authors" on "authors"."id" = "books"."author_id" inner join "publishers" on "publishers"."id" = "books"."publisher_id" where "author_id" = ?`,
  insert: (n) =>
    `insert into "loans" ("book_id", "reader") values (?, ?) returning "id", ${n} as "n"`,
  update: (n) => `update "loans" set "reader" = ? where "id" = ? and "book_id" <> ${n}`,
  'report with three common table expressions': (n) => `with
  lent as (select book_id, count(*) as times from loans group by book_id having count(*) > ${n}),
  ranked as (
    select books.*, lent.times, row_number() over (partition by author_id order by times desc) as place
    from books join lent on lent.book_id = books.id
  ),
  best as (select * from ranked where place <= 3)
select authors.name, best.title, best.times, round(avg(best.times) over (), 2) as mean,
  case when best.times > 100 then 'often' when best.times > 10 then 'sometimes' else 'rarely' end as how
from best join authors on authors.id = best.author_id
where authors.name ilike ? and best.year between ? and ?
order by best.times desc, authors.name limit 50`,
  'call of an unknown function': (n) => `select lending.next_due(?, ${n}) as due`,
  'change of the schema': (n) => `alter table "loans" add column "note_${n}" text`,
  'two statements in one text': (n) => `select ${n}; select count(*) from "books"`,
};

/** Lists of so many placeholders, as Knex has them, and as templates of `@databases/sql` do. */
export const listKinds: Readonly<Record<string, TextMaker>> = {
  placeholders: (length) => listOf(length, () => '?'),
  'numbered placeholders': (length) => listOf(length, (place) => `$${place + 1}`),
};

function listOf(length: number, placeholder: (place: number) => string): string {
  const list = Array.from({ length }, (_, place) => placeholder(place));
  return `select * from "books" where "id" in (${list.join(', ')})`;
}
