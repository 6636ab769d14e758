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
