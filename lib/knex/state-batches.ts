import { SessionStateError } from '../errors.ts';
import type { ConnectionSync } from '../state/connection-sync.ts';
import type { Carriage } from '../state/carriage.ts';
import type { Change } from '../state/known-state.ts';
import { syncStatement } from '../state/sync-statement.ts';
import type { DriverClient, Message, Submittable, Wire } from './pg-driver.ts';
import { StateBatch } from './state-batch.ts';

/**
 * Sends changes of state in one packet with statements, and keeps the answers to them from the
 * driver, which knows nothing of them.
 *
 * While none is on its way, the driver's messages go as they always do.
 */
export class StateBatches {
  readonly #client: DriverClient;
  readonly #sync: ConnectionSync;
  readonly #onFailure: () => void;
  readonly #batches = new Map<unknown, StateBatch>();
  #stopListening: (() => void) | undefined;
  readonly #attached = new WeakSet<object>();

  constructor(client: DriverClient, sync: ConnectionSync, onFailure: () => void) {
    this.#client = client;
    this.#sync = sync;
    this.#onFailure = onFailure;
  }

  /** Whether a query that may change the state is on its way, or waits to be sent. */
  get areQueued(): boolean {
    if (this.#batches.size > 0) return true;
    // One whose time is up is taken out of the driver's queue, and never sent.
    const { _queryQueue: queue = this.#client.queryQueue ?? [] } = this.#client;
    return queue.some((query) => this.#attached.has(query));
  }

  /**
   * Has a query take the changes along that its connection needs by the time that it is sent; one
   * that can't take any is not sent then.
   *
   * @param onSubmit called when it is sent.
   */
  attach(query: Submittable, carriage: Carriage, onSubmit: () => void): void {
    const submit = query.submit.bind(query);
    const isSimple = query.requiresPreparation?.() === false;
    const { wanted: sentIn } = this.#sync;
    this.#attached.add(query);
    query.submit = (wire) => {
      this.#attached.delete(query);
      const { changes, wanted } = this.#sync;
      if (this.#sync.isBroken || wanted === undefined || wanted !== sentIn) {
        return this.#refuse('the connection was given back, or a change of state failed on it');
      }
      // What was sent before it may have begun one, in the state that is wanted.
      const isInTransaction = (this.#client.getTransactionStatus?.() ?? 'I') !== 'I';
      if (changes.length === 0 || isInTransaction) {
        onSubmit();
        return submit(wire);
      }
      if (carriage === 'alone') return this.#refuse('what was sent before it changed the state');

      this.#batches.set(query, new StateBatch(changes, wanted, carriage === 'ahead'));
      this.#sync.known.begin(changes);
      this.#listen(wire);
      if (isSimple && carriage === 'batch') {
        // A simple query can't be part of a batch, and its values come as texts.
        query.requiresPreparation = () => true;
        query.binary = false;
      }
      return this.#send(wire, changes, carriage, () => submit(wire));
    };
  }

  #send(
    wire: Wire,
    changes: readonly Change[],
    carriage: Carriage,
    submit: () => Error | null | undefined,
  ): Error | null | undefined {
    wire.stream.cork?.();
    try {
      const { text, values } = syncStatement(changes);
      wire.parse({ text });
      wire.bind({ values });
      wire.execute({ portal: '', rows: 0 });
      if (carriage === 'ahead') wire.sync();
      const error = submit();
      // The driver has sent nothing: what was sent before it has no end.
      if (error instanceof Error) wire.stream.destroy();
      return error;
    } finally {
      wire.stream.uncork?.();
    }
  }

  #refuse(why: string): Error {
    this.#onFailure();
    return new SessionStateError(`The statement was not sent in its session state: ${why}.`);
  }

  #listen(wire: Wire): void {
    if (this.#stopListening !== undefined) return;
    const before = Object.getOwnPropertyDescriptor(wire, 'emit');
    const emit = wire.emit.bind(wire);
    const heard = (event: string, ...args: unknown[]): boolean => this.#hear(emit, event, args);
    Object.defineProperty(wire, 'emit', { value: heard, configurable: true, writable: true });
    this.#stopListening = () => {
      this.#stopListening = undefined;
      if (before === undefined) Reflect.deleteProperty(wire, 'emit');
      else Object.defineProperty(wire, 'emit', before);
    };
  }

  #hear(emit: Wire['emit'], event: string, args: readonly unknown[]): boolean {
    const query = this.#client._activeQuery;
    const batch = this.#batches.get(query);
    if (batch === undefined) return emit(event, ...args);

    // What `pg` emits here, beside the parts that are read, is not looked at.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const handling = batch.receive(event, args[0] as Message | undefined);
    this.#note(batch);
    if (batch.isOver) {
      this.#batches.delete(query);
      if (this.#batches.size === 0) this.#stopListening?.();
    }
    if (handling.kind === 'swallow') return true;
    if (handling.kind === 'pass') return emit(event, ...args);
    const isHeard = emit('errorMessage', handling.error);
    return event === 'errorMessage' ? isHeard : emit(event, ...args);
  }

  #note(batch: StateBatch): void {
    const { known } = this.#sync;
    if (batch.hasFailed) this.#onFailure();
    for (const answer of batch.answers) this.#sync.note(answer);
    if (!batch.isConfirmed) return;
    batch.isConfirmed = false;
    known.confirm(batch.changes, batch.answers, batch.wanted);
  }
}
