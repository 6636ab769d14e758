import { asTexts, type MarkedQuery, markOwn } from '../hosts/run-query.ts';

const POSITION: unique symbol = Symbol('knex-rwsplit.position');

/** A question about a position, whose answer is a row of `lsn` and, maybe, `timeline`. */
interface PositionQuestion extends MarkedQuery {
  readonly text: string;
  readonly [POSITION]: true;
}

/** Makes a question about a position for `query` of a connection, whatever is wrapped around that. */
export function positionQuestion(text: string): PositionQuestion {
  return markOwn({ text, types: asTexts, [POSITION]: true as const });
}

/** Whether what is sent is a question about a position. */
export function isPositionQuestion(query: object): query is PositionQuestion {
  return POSITION in query;
}

/** What is used of a query of `pg`. */
interface DriverQuery {
  readonly text: string;
  readonly _result: { readonly rows: unknown[] };
  submit(wire: Wire): Error | null | undefined;
  handleRowDescription(message: unknown): void;
  handleDataRow(message: Row): void;
  handleCommandComplete(message: unknown): void;
}

interface Wire {
  readonly stream: { write(bytes: Uint8Array): unknown };
}

interface Row {
  readonly fields: readonly unknown[];
}

/** The query class of a driver, whose instances alone it sends in a pipeline. */
export type DriverQueryClass = new (text: string) => DriverQuery;

/**
 * Derives a query class from the driver's own for questions about a position: one travels with each
 * write, and this one takes a fifth of the time of any other to send and to read.
 */
export function positionClass(Query: DriverQueryClass): DriverQueryClass {
  // There are a few questions in all.
  const messages = new Map<string, Uint8Array>();
  class PositionQuery extends Query {
    override submit({ stream }: Wire): null {
      let bytes = messages.get(this.text);
      if (bytes === undefined) {
        bytes = questionMessages(this.text);
        messages.set(this.text, bytes);
      }
      stream.write(bytes);
      return null;
    }

    override handleRowDescription(): void {
      // Its columns are known.
    }

    override handleDataRow({ fields: [lsn, timeline] }: Row): void {
      this._result.rows.push({ lsn: asText(lsn), timeline: asText(timeline) });
    }

    override handleCommandComplete(): void {
      // One statement has one answer.
    }
  }
  return PositionQuery;
}

function asText(value: unknown): string | null {
  if (Buffer.isBuffer(value)) return value.toString();
  return typeof value === 'string' ? value : null;
}

// Parse, Bind, Execute and Sync: no Describe, as its columns are known.
function questionMessages(text: string): Uint8Array {
  const none = [0, 0];
  return Buffer.concat([
    message('P', [0, ...Buffer.from(text), 0, ...none]),
    message('B', [0, 0, ...none, ...none, ...none]),
    message('E', [0, 0, 0, 0, 0]),
    message('S', []),
  ]);
}

function message(type: string, body: readonly number[]): Buffer {
  const head = Buffer.alloc(5, type);
  head.writeUInt32BE(4 + body.length, 1);
  return Buffer.concat([head, Buffer.from(body)]);
}
