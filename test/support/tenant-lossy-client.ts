import pg from 'pg';
import { RWSplitClient } from '../../lib/index.ts';
import { seededRandom } from './seeded-random.ts';

interface Statement {
  readonly text: string;
}

interface Wire {
  parse(statement: Statement, more?: boolean): unknown;
}

const lostShare = 0.02;

/**
 * A client whose driver loses some of the changes of session state on their way to the server, and
 * lets them be answered as if they had been made.
 */
export class LossyClient extends RWSplitClient {
  // Knex: lib/client.js
  _driver(): object {
    const random = seededRandom(3);
    const Client = class extends pg.Client {
      constructor(settings: pg.ClientConfig) {
        super(settings);
        // Its types leave the connection out.
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion
        const { connection } = this as unknown as { readonly connection: Wire };
        const parse = connection.parse.bind(connection);
        connection.parse = (statement, more) =>
          parse(random() < lostShare ? withoutChange(statement) : statement, more);
      }
    };
    return Object.create(pg, { Client: { value: Client } });
  }
}

function withoutChange(statement: Statement): Statement {
  const change = 'pg_catalog.set_config(s.name, s.value, false)';
  return { ...statement, text: statement.text.replace(change, 's.value') };
}
