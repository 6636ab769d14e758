import { describe, expect, it } from '@jest/globals';
import { judgeConnectError, judgeStatementError } from '../../../lib/routing/failure.ts';
import { failureInWords } from '../../support/failure-in-words.ts';

const driver = (message: string): Error => new Error(message);
const system = (code: string, call = 'read'): Error =>
  Object.assign(new Error(`${call} ${code}`), { code });
const error = (code: string, message = '', more = {}): Error =>
  Object.assign(new Error(message), { code, severity: 'ERROR', ...more });
const fatal = (code: string, message = '', more = {}): Error =>
  error(code, message, { severity: 'FATAL', ...more });

describe('judgeConnectError', () => {
  const unreachable = 'network, lost, ran no; read elsewhere, write yes';
  const starting = 'starting, lost, ran no; read elsewhere, write yes';
  const overloaded = 'overloaded, lost, ran no; read elsewhere, write yes';
  const misconfigured = 'misconfigured, lost, ran no; read elsewhere, write no';
  const nothing = 'none, lost, ran no; read elsewhere, write no';

  const several = (code: string): Error => new AggregateError([system(code, 'connect')]);
  const named = (name: string, message: string): Error =>
    Object.assign(new Error(message), { name });

  it.each<[string, Error, string]>([
    ['nobody listens', system('ECONNREFUSED', 'connect'), unreachable],
    ['nobody listens on any address', several('ECONNREFUSED'), unreachable],
    ['the file of the socket is missing', system('ENOENT', 'connect'), unreachable],
    ['the name is unknown', system('ENOTFOUND', 'getaddrinfo'), unreachable],
    ['the name server is away', system('EAI_AGAIN', 'getaddrinfo'), unreachable],
    ['there is no way to the host', system('EHOSTUNREACH', 'connect'), unreachable],
    ['there is no way to the network', system('ENETUNREACH', 'connect'), unreachable],
    ['the network is silent', system('ETIMEDOUT', 'connect'), unreachable],
    ['the other side hangs up', system('ECONNRESET'), unreachable],
    ['the other side has hung up', system('EPIPE', 'write'), unreachable],
    ['the handshake of TLS takes too long', system('ERR_TLS_HANDSHAKE_TIMEOUT'), unreachable],
    ['the server hangs', driver('timeout expired'), unreachable],
    ['a pool of pg waited', driver('Connection terminated due to connection timeout'), unreachable],
    ['the server ends', driver('Connection terminated unexpectedly'), unreachable],
    [
      'no process could be made',
      driver('There was an error establishing an SSL connection'),
      unreachable,
    ],
    ['a proxy hangs up', driver('socket hang up'), unreachable],
    ['the first question is not answered', driver('Query read timeout'), unreachable],
    [
      'tarn gives out the text alone',
      named('TimeoutError', 'connect ECONNREFUSED ::1:5432'),
      unreachable,
    ],
    ['57P01', fatal('57P01', 'terminating connection due to administrator command'), unreachable],
    ['57P03 while it ends', fatal('57P03', 'the database system is shutting down'), unreachable],
    ['08001', fatal('08001'), unreachable],
    ['08004', fatal('08004'), unreachable],
    ['08006', fatal('08006'), unreachable],
    ['08006 without a severity', Object.assign(new Error(), { code: '08006' }), unreachable],
    ['a pooler finds no server', fatal('08P01', 'server login has been failing'), unreachable],
    ['a pooler has no server left', fatal('58000', 'could not get connection'), unreachable],
    ['an internal error', fatal('XX000'), unreachable],
    ['57P03', fatal('57P03', 'the database system is starting up'), starting],
    [
      '57P03 before consistency',
      fatal('57P03', 'the database system is not yet accepting connections', {
        detail: 'Consistent recovery state has not been yet reached.',
      }),
      starting,
    ],
    ['57P03 after a crash', fatal('57P03', 'the database system is in recovery mode'), starting],
    [
      '57P03 in another language',
      fatal('57P03', 'das Datenbanksystem startet', { severity: 'FATAL' }),
      starting,
    ],
    ['too many connections', fatal('53300', 'sorry, too many clients already'), overloaded],
    ['the rest is reserved', fatal('53300', 'remaining connection slots are reserved'), overloaded],
    ['no memory for another', fatal('53200', 'out of memory'), overloaded],
    [
      'hot_standby=off',
      fatal('57P03', 'the database system is not accepting connections', {
        detail: 'Hot standby mode is disabled.',
      }),
      misconfigured,
    ],
    ['no line in pg_hba.conf', fatal('28000', 'no pg_hba.conf entry for host'), misconfigured],
    ['a wrong password', fatal('28P01', 'password authentication failed'), misconfigured],
    [
      'in another language',
      fatal('28P01', 'пользователь не прошёл проверку', { severity: 'ВАЖНО' }),
      misconfigured,
    ],
    ['no such database', fatal('3D000', 'database "x" does not exist'), misconfigured],
    ['no right to connect', fatal('42501', 'permission denied for database'), misconfigured],
    ['an unknown setting', fatal('42704', 'unrecognized configuration parameter'), misconfigured],
    ['a wrong setting', fatal('22023', 'invalid value for parameter'), misconfigured],
    [
      'a closed database',
      fatal('55000', 'database "x" is not currently accepting connections'),
      misconfigured,
    ],
    ['an unknown protocol', fatal('0A000', 'unsupported frontend protocol'), misconfigured],
    [
      'a pooler refuses a parameter',
      fatal('08P01', 'unsupported startup parameter: statement_timeout'),
      misconfigured,
    ],
    ['a dropped database', fatal('57P04', 'database "x" has been dropped'), misconfigured],
    [
      'no password',
      driver('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string'),
      misconfigured,
    ],
    [
      'a strange server',
      driver('SASL: SCRAM-SERVER-FINAL-MESSAGE: server signature does not match'),
      misconfigured,
    ],
    ['no string as a password', new TypeError('Password must be a string'), misconfigured],
    ['no TLS', driver('The server does not support SSL connections'), misconfigured],
    ['an unknown authentication', driver('Unknown authenticationOk message type 7'), misconfigured],
    ['a certificate of its own', system('DEPTH_ZERO_SELF_SIGNED_CERT'), misconfigured],
    ['another name', system('ERR_TLS_CERT_ALTNAME_INVALID'), misconfigured],
    ['a certificate that has expired', system('CERT_HAS_EXPIRED'), misconfigured],
    ['an unknown issuer', system('UNABLE_TO_VERIFY_LEAF_SIGNATURE'), misconfigured],
    ['no common version of TLS', system('ERR_SSL_UNSUPPORTED_PROTOCOL'), misconfigured],
    ['no TLS at all', system('EPROTO', 'write'), misconfigured],
    [
      'the pool is full',
      named('TimeoutError', 'operation timed out for an unknown reason'),
      nothing,
    ],
    [
      'Knex waited for the pool',
      named('KnexTimeoutError', 'Timeout acquiring a connection.'),
      nothing,
    ],
    ['a pool of pg is full', driver('timeout exceeded when trying to connect'), nothing],
    ['this side gave up', driver('Connection terminated'), nothing],
    ['this machine has no ports', system('EADDRNOTAVAIL', 'connect'), nothing],
    ['this process has no files', system('EMFILE', 'connect'), nothing],
    ['the password cannot be fetched', driver('the vault is sealed'), nothing],
    ['a hook of the application fails', error('57014', 'canceling statement'), nothing],
    ['a text that quotes another', driver('the vault says: timeout expired'), nothing],
    ['a text that quotes pg', driver('the vault says: SASL: no'), nothing],
  ])('%s', (_, thrown, expected) => {
    expect(failureInWords(judgeConnectError(thrown))).toBe(expected);
  });

  it('takes what is no error for no evidence', () => {
    const judged = [undefined, null, 'timeout expired', 7]
      .map(judgeConnectError)
      .map(failureInWords);

    expect(judged).toEqual(Array(4).fill(nothing));
  });
});

describe('judgeStatementError', () => {
  const lost = 'network, lost, ran unknown; read elsewhere, write no';
  const unsent = 'doubtful, lost, ran no; read elsewhere, write yes';
  const own = 'none, kept, ran no; read no, write no';
  const ended = 'none, lost, ran unknown; read no, write no';
  const conflict = 'none, kept, ran no; read elsewhere, write no';
  const timedOut = 'none, lost, ran no; read elsewhere, write yes';

  const notQueryable = 'Client has encountered a connection error and is not queryable';

  describe.each(['primary', 'replica'] as const)('on a %s', (role) => {
    it.each<[string, Error, string]>([
      ['57P01', fatal('57P01', 'terminating connection due to administrator command'), lost],
      ['57P01 in another language', fatal('57P01', '', { severity: '致命错误' }), lost],
      ['57P02', fatal('57P02', 'terminating connection because of crash'), lost],
      ['the connection ends', driver('Connection terminated unexpectedly'), lost],
      ['the other side hangs up', system('ECONNRESET'), lost],
      ['the other side has hung up', system('EPIPE', 'write'), lost],
      ['the network is silent', system('ETIMEDOUT'), lost],
      ['the encryption breaks', system('ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC'), lost],
      ['a proxy hangs up', driver('socket hang up'), lost],
      ['08003', fatal('08003'), lost],
      ['08006', fatal('08006'), lost],
      ['08006 without a severity', Object.assign(new Error(), { code: '08006' }), lost],
      ['08007', fatal('08007'), lost],
      ['a pooler lost the server', fatal('08P01', 'server conn crashed?'), lost],
      ['a pooler has no server left', fatal('58000'), lost],
      ['the connection had ended', driver(notQueryable), unsent],
      ['the connection was ended', driver('Client was closed and is not queryable'), timedOut],
      [
        'no answer in time',
        driver('Query read timeout'),
        'doubtful, lost, ran unknown; read elsewhere, write no',
      ],
      [
        'this side ends the connection',
        driver('Connection terminated'),
        'none, lost, ran unknown; read elsewhere, write no',
      ],
      [
        'an answer to another question',
        driver('Received unexpected dataRow message from backend.'),
        'none, lost, ran unknown; read elsewhere, write no',
      ],
      [
        '25P03',
        fatal('25P03', 'terminating connection due to idle-in-transaction timeout'),
        timedOut,
      ],
      ['57P05', fatal('57P05', 'terminating connection due to idle-session timeout'), timedOut],
      ['57P04', fatal('57P04', 'terminating connection because of a dropped database'), ended],
      ['25P04', fatal('25P04', 'terminating connection due to transaction timeout'), ended],
      ['a panic', error('XX000', '', { severity: 'PANIC' }), ended],
      [
        'a pooler waits for a start',
        fatal('57P03'),
        'starting, lost, ran no; read elsewhere, write yes',
      ],
      [
        'a pooler is refused',
        fatal('53300'),
        'overloaded, lost, ran no; read elsewhere, write yes',
      ],
      [
        'a pooler is not let in',
        fatal('28P01'),
        'misconfigured, lost, ran no; read elsewhere, write no',
      ],
      [
        'a pooler finds no database',
        fatal('3D000'),
        'misconfigured, lost, ran no; read elsewhere, write no',
      ],
      ['a foreign server is away', error('08001', 'could not connect to server "shard"'), own],
      ['a foreign server ends', error('57P01', 'terminating connection'), own],
      ['a foreign server is full', error('53300', 'too many clients already'), own],
      ['a foreign server is damaged', error('58000', 'could not fork'), own],
      ['a file that cannot be read', error('58030', 'could not read block 7'), conflict],
      ['damaged data', error('XX001', 'invalid page in block 7'), conflict],
      ['too few bindings', error('08P01', 'bind message supplies 0 parameters'), own],
      ['bad data', error('22012', 'division by zero'), own],
      ['a constraint', error('23505', 'duplicate key value'), own],
      [
        'in another language',
        error('23505', 'doppelter Schlüsselwert', { severity: 'FEHLER' }),
        own,
      ],
      ['without a severity', Object.assign(new Error(), { code: '23505' }), own],
      ['a syntax error', error('42601', 'syntax error'), own],
      ['no privilege', error('42501', 'permission denied for table'), own],
      ['a feature that is missing', error('0A000', 'cached plan must not change result type'), own],
      ['an exception of a function', error('P0001', 'timeout expired'), own],
      ['an exception that quotes pg', error('P0001', 'Connection terminated unexpectedly'), own],
      [
        'a timeout or a cancel',
        error('57014', 'canceling statement due to statement timeout'),
        own,
      ],
      ['lock_timeout', error('55P03', 'canceling statement due to lock timeout'), own],
      ['a full disk', error('53100', 'could not extend file'), own],
      ['no memory', error('53200', 'out of memory'), own],
      ['a role that is missing', error('28000', 'role "x" does not exist'), own],
      ['a database that is missing', error('3D000', 'database "x" does not exist'), own],
      ['a failed transaction', error('25P02', 'current transaction is aborted'), own],
      ['an unknown prepared statement', error('26000', 'does not exist'), own],
      ['an unknown cursor', error('34000', 'does not exist'), own],
      ['recovery that is over', error('55000', 'recovery is not in progress'), own],
      ['an internal error', error('XX000', 'cache lookup failed'), own],
      [
        'Knex’s own timeout',
        driver('Defined query timeout of 9ms exceeded'),
        'none, kept, ran unknown; read no, write no',
      ],
      ['a binding that throws', new TypeError('no'), 'none, kept, ran unknown; read no, write no'],
      [
        'a text that quotes pg',
        driver(`select '${notQueryable}' - ${notQueryable}`),
        'none, kept, ran unknown; read no, write no',
      ],
    ])('%s', (_, thrown, expected) => {
      expect(failureInWords(judgeStatementError(thrown, role))).toBe(expected);
    });
  });

  const toPrimary = 'none, kept, ran no; read primary, write no';
  const ifBehind = 'none, kept, ran no; read primary-if-behind, write no';
  const ifDemoted = 'none, kept, ran no; read no, write if-demoted';

  it.each<[string, Error, string, string]>([
    [
      'a conflict with replay',
      error('40001', 'canceling statement due to conflict with recovery'),
      conflict,
      own,
    ],
    ['in another language', error('40001', 'Konflikt', { severity: 'FEHLER' }), conflict, own],
    [
      'a conflict that ends it',
      fatal('40001', 'terminating connection due to conflict with recovery'),
      'none, lost, ran unknown; read elsewhere, write no',
      ended,
    ],
    ['a deadlock', error('40P01', 'deadlock detected'), conflict, own],
    [
      'a write',
      error('25006', 'cannot execute INSERT in a read-only transaction'),
      toPrimary,
      ifDemoted,
    ],
    [
      'a command',
      error('0A000', 'cannot use serializable mode in a hot standby'),
      toPrimary,
      ifDemoted,
    ],
    [
      'an unlogged table',
      error('0A000', 'cannot access temporary or unlogged relations during recovery'),
      toPrimary,
      ifDemoted,
    ],
    ['a question about the WAL', error('55000', 'recovery is in progress'), toPrimary, ifDemoted],
    ['a large object', error('XX000', 'cannot assign OIDs during recovery'), toPrimary, ifDemoted],
    ['a missing table', error('42P01', 'does not exist'), ifBehind, own],
    ['a missing column', error('42703', 'does not exist'), ifBehind, own],
    ['a missing function', error('42883', 'does not exist'), ifBehind, own],
    ['a missing type', error('42704', 'does not exist'), ifBehind, own],
    ['a missing schema', error('3F000', 'does not exist'), ifBehind, own],
  ])('tells a replica from a primary: %s', (_, thrown, onReplica, onPrimary) => {
    expect(failureInWords(judgeStatementError(thrown, 'replica'))).toBe(onReplica);
    expect(failureInWords(judgeStatementError(thrown, 'primary'))).toBe(onPrimary);
  });
});
