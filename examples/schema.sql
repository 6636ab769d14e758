create table orders (
  id bigint generated always as identity primary key,
  item text not null,
  quantity int not null default 1
);

create table payments (
  key text primary key,
  amount int not null
);

insert into orders (item) values ('tea'), ('coffee');

-- Only reads, and says so.
create function next_delivery() returns date stable language sql as 'select current_date + 1';

create table authors (
  id int generated always as identity primary key,
  name text not null unique
);

create table books (
  id int generated always as identity primary key,
  author_id int references authors,
  title text not null
);

insert into authors (name) values ('Ursula K. Le Guin');
insert into books (author_id, title) values (1, 'The Dispossessed');
