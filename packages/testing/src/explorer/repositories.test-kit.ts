// Three public repositories, as published in their npm packages, and twelve questions about them with the location of
// each answer.
import { cpSync, readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { dirname, join } from 'node:path'

export interface Question {
  readonly text: string
  /** Pattern that someone who knows the tools would search for. */
  readonly pattern: string
  readonly pathPrefix: string
  /** Location of the answer: one line of this file. */
  readonly path: string
  readonly answer: RegExp
}

export interface Repository {
  readonly name: string
  readonly questions: readonly Question[]
}

export const REPOSITORIES: readonly Repository[] = [
  {
    name: 'ws',
    questions: [
      {
        text: 'How many bytes may the reason of a close frame have?',
        pattern: 'must not be greater than',
        pathPrefix: '',
        path: 'lib/sender.js',
        answer: /not be greater than 123 bytes/,
      },
      {
        text: 'Which fixed text is hashed with the key of the handshake?',
        pattern: 'GUID',
        pathPrefix: 'lib/constants.js',
        path: 'lib/constants.js',
        answer: /GUID: '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'/,
      },
      {
        text: 'From which size on is a message compressed by default?',
        pattern: '(?i)threshold',
        pathPrefix: 'lib',
        path: 'lib/permessage-deflate.js',
        answer: /threshold !== undefined \? .* : 1024/,
      },
      {
        text: 'Which status answers an upgrade whose method is not GET?',
        pattern: 'abortHandshakeOrEmitwsClientError\\(this, req, socket, 405',
        pathPrefix: '',
        path: 'lib/websocket-server.js',
        answer: /socket, 405, message/,
      },
    ],
  },
  {
    name: 'pino',
    questions: [
      {
        text: 'Which number is the level "fatal"?',
        pattern: 'fatal: \\d+',
        pathPrefix: 'lib',
        path: 'lib/constants.js',
        answer: /fatal: 60/,
      },
      {
        text: 'What stands in place of a redacted value by default?',
        pattern: '\\[Redacted\\]',
        pathPrefix: 'lib',
        path: 'lib/redaction.js',
        answer: /CENSOR = '\[Redacted\]'/,
      },
      {
        text: 'How deep are nested objects written by default?',
        pattern: 'depthLimit',
        pathPrefix: 'pino.js',
        path: 'pino.js',
        answer: /depthLimit: 5,/,
      },
      {
        text: 'Does a multistream leave out duplicates by default?',
        pattern: 'dedupe: (true|false)',
        pathPrefix: 'lib',
        path: 'lib/multistream.js',
        answer: /opts \|\| \{ dedupe: false \}/,
      },
    ],
  },
  {
    name: 'undici',
    questions: [
      {
        text: 'How long does an idle connection stay open by default?',
        pattern: 'keepAliveTimeout == null',
        pathPrefix: 'lib/dispatcher',
        path: 'lib/dispatcher/client.js',
        answer: /keepAliveTimeout == null \? 4e3/,
      },
      {
        text: 'How long may the body of an answer pause by default?',
        pattern: 'bodyTimeout != null',
        pathPrefix: 'lib/dispatcher',
        path: 'lib/dispatcher/client.js',
        answer: /bodyTimeout != null \? bodyTimeout : 300e3/,
      },
      {
        text: 'Which status codes are tried again by default?',
        pattern: 'statusCodes \\?\\?',
        pathPrefix: '',
        path: 'lib/handler/retry-handler.js',
        answer: /\[500, 502, 503, 504, 429\]/,
      },
      {
        text: 'Which code has the error of headers that come too late?',
        pattern: 'this\\.code = .*HEADERS_TIMEOUT',
        pathPrefix: 'lib',
        path: 'lib/core/errors.js',
        answer: /this\.code = 'UND_ERR_HEADERS_TIMEOUT'/,
      },
    ],
  },
]

/** Copies the package out of node_modules, which git ignores, and returns the new folder. */
export function copyRepository(name: string, place: string): string {
  const manifest = findPackageJSON(name, import.meta.url)
  if (manifest === undefined) throw new Error(`the package ${name} is not installed`)
  const root = join(place, name)
  cpSync(dirname(manifest), root, { recursive: true, filter: (path) => !path.endsWith('node_modules') })
  return root
}

/** Line numbers start at 1, as in an editor. */
export function readLine(root: string, path: string, line: number): string {
  return readFileSync(join(root, path), 'utf8').split('\n')[line - 1] ?? ''
}
