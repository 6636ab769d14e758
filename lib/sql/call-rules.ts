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
import { mayBeTemporaryPath } from './temporary-path.ts';

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
  else if (name !== 'set_config') return false;
  else if (isLocal(call)) return judgeLocalSetting(call, findings);
  else findings.changesSession('set_config');

  findings.mayWrite(`calls ${name}`);
  return true;
}

// Only a literal `true` leaves nothing behind.
function isLocal(call: SyntaxNode): boolean {
  return nodeIn(constantIn(call, 2), 'boolval')['boolval'] === true;
}

function judgeLocalSetting(call: SyntaxNode, findings: Findings): false {
  const [setting, value] = [0, 1].map((place) =>
    textIn(nodeIn(constantIn(call, place), 'sval'), 'sval'),
  );
  if (mayBeTemporaryPath(setting, value)) findings.mayMakeTemporary = true;
  return false;
}

const parametersOfSetConfig = ['setting_name', 'new_value', 'is_local'] as const;

function constantIn(call: SyntaxNode, place: number): SyntaxNode {
  const args = listIn(call, 'args');
  const named = args
    .map((arg) => nodeIn(arg, 'NamedArgExpr'))
    .find((arg) => textIn(arg, 'name') === parametersOfSetConfig[place]);
  return nodeIn(named === undefined ? args[place] : named['arg'], 'A_Const');
}
