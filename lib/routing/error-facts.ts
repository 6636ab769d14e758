/** What an error says of itself: of a server by its SQLSTATE, of the system or the driver by name or text. */
export interface ErrorFacts {
  /** Undefined where no server said it. */
  readonly sqlState: string | undefined;
  /** Whether a server ended the session with it: FATAL or PANIC. */
  readonly isFatal: boolean;
  /** Node's name of a system's or TLS error, such as `ECONNRESET`. */
  readonly systemCode: string | undefined;
  /** The words; a server's may be in any language, and may quote what users wrote. */
  readonly message: string;
  readonly detail: string;
}

// The driver passes on only the word that `lc_messages` translates. Of the others it is safe to
// think that they end the session. The words stand in PostgreSQL's src/backend/po.
const ERROR_WORDS = new Set(
  'ERROR FEHLER ERREUR ERRORE ERRO ОШИБКА ПОМИЛКА FEL BŁĄD CHYBA HATA შეცდომა 오류 错误 錯誤'.split(
    ' ',
  ),
);

// A digit tells it from EPIPE.
const SQL_STATE = /^(?=.*\d)[0-9A-Z]{5}$/;

// What means the end of a session, where an engine or a pooler names no severity.
const ENDING_STATE = /^(08|57P0|25P0[34]|53300|58000)/;

// Under this text tarn gives out an error that it replaces by one of its own.
const SYSTEM_TEXT = /^(?:connect|read|write|getaddrinfo) (E[A-Z]+(?:_[A-Z]+)?)\b/;

/** Reads what can be known of an error, whatever was thrown. */
export function errorFacts(error: unknown): ErrorFacts {
  const code = text(error, 'code');
  const severity = text(error, 'severity');
  const message = text(error, 'message') ?? '';
  const detail = text(error, 'detail') ?? '';
  const isOfServer = severity !== undefined || (code !== undefined && SQL_STATE.test(code));

  if (!isOfServer) {
    const systemCode = code ?? innerCode(error) ?? SYSTEM_TEXT.exec(message)?.[1];
    return { sqlState: undefined, isFatal: false, systemCode, message, detail };
  }
  const sqlState = code ?? '';
  const isFatal = severity === undefined ? ENDING_STATE.test(sqlState) : !ERROR_WORDS.has(severity);
  return { sqlState, isFatal, systemCode: undefined, message, detail };
}

// A name with several addresses fails with one error for each.
function innerCode(error: unknown): string | undefined {
  const errors = member(error, 'errors');
  return Array.isArray(errors) ? text(errors[0], 'code') : undefined;
}

function text(from: unknown, name: string): string | undefined {
  const value = member(from, name);
  return typeof value === 'string' ? value : undefined;
}

function member(from: unknown, name: string): unknown {
  return typeof from === 'object' && from !== null ? Reflect.get(from, name) : undefined;
}
