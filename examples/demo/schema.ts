import type { Cluster } from 'knex-rwsplit/testing';

/**
 * Creates the shop's tables, functions and views, and waits until the replicas have them.
 *
 * From then on a commit waits until one of the replicas has it: whichever has most holds
 * everything that was acknowledged.
 */
export async function createShop(cluster: Cluster): Promise<void> {
  const { primary, replicas } = cluster;
  await primary.query(schema);
  const names = replicas.map(({ name }) => `"${name}"`).join(', ');
  await primary.query(`alter system set synchronous_standby_names = 'any 1 (${names})'`);
  await primary.query('select pg_reload_conf()');
  await cluster.waitForReplay();
}

const schema = `
create table products (id int primary key, name text not null, price int not null, stock int not null);
create table orders (
  id bigint generated always as identity primary key,
  product int not null references products,
  quantity int not null,
  reference uuid unique,
  placed_at timestamptz not null default now()
);
create index on orders (product);
insert into products select n, 'product ' || n, 100 + n, 1000000 from generate_series(1, 50) as n;
insert into orders (product, quantity) select 1 + n % 50, 1 + n % 3 from generate_series(1, 2000) as n;

-- Only reads, and says so: a replica may run it.
create function revenue(wanted int) returns bigint stable language sql as
  'select coalesce(sum(o.quantity * p.price), 0) from orders o join products p on p.id = o.product where p.id = wanted';

-- Writes behind an innocent name.
create table visits (product int not null, at timestamptz not null default now());
create function price_of(wanted int) returns int language plpgsql as $$
begin
  insert into visits (product) values (wanted);
  return (select price from products where id = wanted);
end $$;

-- And a view that hides the call.
create view price_list as select id, name, price_of(id) as price from products where id <= 3;

create sequence invoice_numbers;

-- Never reaches a replica.
create unlogged table carts (id int primary key, product int not null);
insert into carts select n, n from generate_series(1, 20) as n;
`;
