import {
  boundToOneServer,
  boundToOneServerPrefixes,
  refusedByReplicas,
  sessionLocks,
  sessionUnlocks,
} from './built-in-functions.ts';
import type { Findings } from './findings.ts';
import { formatName, qualifiedNameOf } from './qualified-name.ts';
import { listIn, nodeIn, type SyntaxNode, textIn } from './syntax-node.ts';

/** Judges one function call: by the user's lists, by what is known of PostgreSQL's own, or not yet. */
export function judgeCall(call: SyntaxNode, findings: Findings): void {
  const called = qualifiedNameOf(listIn(call, 'funcname'));
  if (called === undefined) return findings.unknown('a call without a name');
  const { schema, name } = called;
  if (schema?.startsWith('pg_temp') === true) {
    return findings.mayWrite(`calls ${formatName(called)}`);
  }

  const mayBeBuiltIn = schema === undefined || schema === 'pg_catalog';
  // What a call leaves behind in its session is true whatever the lists say.
  if (mayBeBuiltIn && judgeSessionCall(call, name, findings)) return undefined;

  const ruling = findings.lists.rulingOf(called);
  if (ruling === 'read') return undefined;
  if (ruling === 'write') return findings.writes(`calls ${formatName(called)}`);
  if (mayBeBuiltIn && refusedByReplicas.has(name)) return findings.writes(`calls ${name}`);
  if (mayBeBuiltIn && isBoundToOneServer(name)) return findings.mayWrite(`calls ${name}`);
  return findings.callsFunction(called);
}

/** Judges the `f` of `t.f` or `(x).f`, which may be a function of PostgreSQL's own. */
export function judgeCallAsField(name: string, findings: Findings): void {
  const isListed = refusedByReplicas.has(name) || isBoundToOneServer(name);
  if (!isListed || judgeSessionCall({}, name, findings)) return undefined;
  if (findings.lists.rulingOf({ name }) === 'read') return undefined;
  return findings.mayWrite(`calls ${name}`);
}

function isBoundToOneServer(name: string): boolean {
  return (
    boundToOneServer.has(name) || boundToOneServerPrefixes.some((prefix) => name.startsWith(prefix))
  );
}

function judgeSessionCall(call: SyntaxNode, name: string, findings: Findings): boolean {
  if (sessionLocks.has(name)) findings.usesLock('lock');
  else if (sessionUnlocks.has(name)) findings.usesLock('unlock');
  else if (name === 'pg_advisory_unlock_all') findings.usesLock('unlock-all');
  else if (name === 'set_config' && !isLocal(call)) findings.changesSession('set_config');
  else return false;

  findings.mayWrite(`calls ${name}`);
  return true;
}

/** set_config(name, value, is_local): only a literal `true` leaves nothing behind. */
function isLocal(call: SyntaxNode): boolean {
  const args = listIn(call, 'args');
  const named = args
    .map((arg) => nodeIn(arg, 'NamedArgExpr'))
    .find((arg) => textIn(arg, 'name') === 'is_local');
  const constant = nodeIn(named === undefined ? args[2] : named['arg'], 'A_Const');
  return nodeIn(constant, 'boolval')['boolval'] === true;
}
