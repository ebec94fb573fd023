// Twelve questions about three public packages, as npm has installed them. A plan has the calls that somebody who knows how to search would
// make; what the right answer is, `truth` says, and the test looks it up in the file itself.
import { fileURLToPath } from 'node:url'

export interface Question {
  readonly text: string
  /** What to search for, and where. */
  readonly pattern: string
  readonly pathPrefix?: string
  /** Lines to read before and after the first match. */
  readonly around: number
  /** The line that answers. */
  readonly truth: RegExp
  /** The file that has it. */
  readonly file: string
}

export interface Repository {
  readonly name: string
  readonly root: string
  readonly questions: readonly Question[]
}

export const REPOSITORIES: readonly Repository[] = [
  {
    name: 'ws',
    root: findPackage('ws'),
    questions: [
      {
        text: 'With which error is a message refused that is too large?',
        pattern: '(?i)max payload size',
        pathPrefix: 'lib/receiver.js',
        around: 8,
        truth: /'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'/,
        file: 'lib/receiver.js',
      },
      {
        text: 'Which GUID goes into the key of the handshake?',
        pattern: 'GUID',
        around: 3,
        truth: /GUID: '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'/,
        file: 'lib/constants.js',
      },
      {
        text: 'Where does a server choose one of the subprotocols of a client?',
        pattern: '\\? this\\.options\\.handleProtocols',
        around: 3,
        truth: /this\.options\.handleProtocols\(protocols, req\)/,
        file: 'lib/websocket-server.js',
      },
      {
        text: 'Which close code stands for no status?',
        pattern: '1005',
        pathPrefix: 'lib/receiver.js',
        around: 2,
        truth: /'conclude', 1005/,
        file: 'lib/receiver.js',
      },
    ],
  },
  {
    name: 'undici',
    root: findPackage('undici'),
    questions: [
      {
        text: 'How exact are its timers?',
        pattern: 'RESOLUTION_MS =',
        pathPrefix: 'lib',
        around: 4,
        truth: /const RESOLUTION_MS = 1e3/,
        file: 'lib/util/timers.js',
      },
      {
        text: 'Which status codes does the retry handler try again by default?',
        pattern: 'statusCodes \\?\\?',
        around: 2,
        truth: /statusCodes \?\? \[500, 502, 503, 504, 429\]/,
        file: 'lib/handler/retry-handler.js',
      },
      {
        text: 'Which class has the code of a connection that took too long?',
        pattern: "code = 'UND_ERR_CONNECT_TIMEOUT'",
        around: 6,
        truth: /class ConnectTimeoutError extends UndiciError/,
        file: 'lib/core/errors.js',
      },
      {
        text: 'Where does the limit of headers come from when nobody sets one?',
        pattern: 'http\\.maxHeaderSize',
        pathPrefix: 'lib/dispatcher',
        around: 3,
        truth: /\? \(\) => http\.maxHeaderSize/,
        file: 'lib/dispatcher/client.js',
      },
    ],
  },
  {
    name: 'zod',
    root: findPackage('zod'),
    questions: [
      {
        text: 'Which pattern does an email address have to match?',
        pattern: 'export const email\\b',
        pathPrefix: 'src/v4/core',
        around: 2,
        truth: /export const email: RegExp =/,
        file: 'src/v4/core/regexes.ts',
      },
      {
        text: 'With which words is a value of another type refused, in English?',
        pattern: 'Invalid input: expected',
        pathPrefix: 'src/v4/locales/en.ts',
        around: 4,
        truth: /Invalid input: expected \$\{/,
        file: 'src/v4/locales/en.ts',
      },
      {
        text: 'Which error does an option without discriminator give?',
        pattern: 'Invalid discriminated union option',
        pathPrefix: 'src/v4/core/schemas.ts',
        around: 2,
        truth: /throw new Error\(`Invalid discriminated union option at index/,
        file: 'src/v4/core/schemas.ts',
      },
      {
        text: 'Where are schemas made JSON Schema?',
        pattern: 'export function toJSONSchema',
        pathPrefix: 'src/v4/core',
        around: 5,
        truth: /export function toJSONSchema\(/,
        file: 'src/v4/core/json-schema-processors.ts',
      },
    ],
  },
]

/** Its folder, where npm has put it. */
function findPackage(name: string): string {
  return fileURLToPath(new URL('.', import.meta.resolve(`${name}/package.json`)))
}
