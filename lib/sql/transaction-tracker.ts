import type { Findings } from './findings.ts';
import { type SyntaxNode, textIn } from './syntax-node.ts';

/** Follows BEGIN, COMMIT and their kin over one text, to see what it leaves open. */
export class TransactionTracker {
  #open: string | undefined;
  #savepoints: string[] = [];

  take(statement: SyntaxNode, findings: Findings): void {
    const kind = (textIn(statement, 'kind') ?? '').replace('TRANS_STMT_', '');
    const savepoint = textIn(statement, 'savepoint_name') ?? '';

    switch (kind) {
      case 'BEGIN':
      case 'START':
        this.#open = kind === 'START' ? 'START TRANSACTION' : kind;
        break;
      case 'COMMIT':
      case 'ROLLBACK':
        this.#open = statement['chain'] === true ? `${kind} AND CHAIN` : undefined;
        this.#savepoints = [];
        break;
      case 'SAVEPOINT':
        this.#savepoints.push(savepoint);
        break;
      case 'RELEASE':
        this.#savepoints.length = Math.max(0, this.#savepoints.lastIndexOf(savepoint));
        break;
      case 'PREPARE':
        this.#open = undefined;
        this.#savepoints = [];
        return findings.writes('PREPARE TRANSACTION');
      case 'COMMIT_PREPARED':
      case 'ROLLBACK_PREPARED':
        return findings.writes(kind.replace('_', ' '));
      default:
    }
    return findings.mayWrite(`transaction control: ${kind.replace('_', ' ')}`);
  }

  finish(findings: Findings): void {
    const open = this.#open ?? (this.#savepoints.length > 0 ? 'SAVEPOINT' : undefined);
    if (open !== undefined) findings.leavesOpen(open);
  }
}
