import { EventEmitter } from 'node:events';
import { NamedStatements } from '../../lib/knex/named-statements.ts';

/** The part of a `pg` client that names go through; what is sent is noted in `sent`. */
export class FakeNamingClient {
  readonly sent: string[] = [];
  readyForQuery = true;
  pipeline = false;
  status: string | null = 'I';
  readonly connection: FakeWire;
  readonly #isOld: boolean;

  constructor(isOld = false) {
    this.connection = new FakeWire(this.sent, isOld);
    this.#isOld = isOld;
  }

  getTransactionStatus(): string | null {
    return this.status;
  }

  begin(name: string): void {
    Object.assign(this, { [this.#isOld ? 'activeQuery' : '_activeQuery']: { name } });
  }

  // As pg's own: parsed where that is not noted, bound by the server at once.
  query(name: string): string {
    const { parsedStatements } = this.connection;
    if (parsedStatements[name] === undefined) this.sent.push(`parse ${name}`);
    parsedStatements[name] = 'a text';
    this.sent.push(name);
    this.begin(name);
    return name;
  }
}

class FakeWire extends EventEmitter {
  readonly parsedStatements: Record<string, string> = {};
  readonly submittedNamedStatements: Record<string, string> | undefined;
  readonly stream: { cork(): void; uncork(): void } = {
    cork: () => void this.sent.push('{'),
    uncork: () => void this.sent.push('}'),
  };
  readonly writer: object | undefined;
  readonly sent: string[];

  constructor(sent: string[], isOld: boolean) {
    super();
    this.sent = sent;
    this.writer = isOld ? {} : undefined;
    this.submittedNamedStatements = isOld ? undefined : {};
  }

  close({ type, name }: { type: string; name: string }): void {
    this.sent.push(`close ${type} ${name}`);
  }
}

/** The named statements of such a client, which is idle. */
export function fakeNames(isOld = false): { client: FakeNamingClient; names: NamedStatements } {
  const client = new FakeNamingClient(isOld);
  return { client, names: new NamedStatements(client, client.connection) };
}
