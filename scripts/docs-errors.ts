// Generates docs/errors.md from the table of error codes in core.
import type { Fault } from '@baton/core/internal'
import { ERROR_CODES, isErrorCode, readErrorLayer } from '@baton/core/internal'

const WHOSE: Readonly<Record<Fault, string>> = {
  caller: 'the program that calls Baton',
  peer: 'the other end of the connection',
  provider: 'the model or its provider',
  service: 'a service that a tool uses',
  baton: 'Baton or its environment',
}

export function errorsPage(): string {
  const rows = Object.entries(ERROR_CODES).map(([code, { fault, retryable, meaning, solve }]) =>
    row([
      `\`${code}\``,
      isErrorCode(code) ? readErrorLayer(code) : '',
      fault,
      retryable ? 'yes' : 'no',
      meaning,
      solve,
    ]),
  )
  const faults = Object.entries(WHOSE).map(([fault, whose]) => `- \`${fault}\`: ${whose}`)
  return `# Error codes

<!-- Generated from packages/core/src/error-codes.ts by \`npm run docs\`. Do not edit. -->

Every Baton error is a \`BatonError\` with one of these codes. Branch on \`code\`, never on the class: two copies of it
may be loaded. The message says what happened and with which value; \`hint\` says what to do. The same codes appear in
\`error\` frames on the wire, and in the results that a model gets.

Methods of a host, a session, a turn and a client reject when Baton refuses a request; synchronous methods throw.
Only \`session.submit\`, the entry point for fronts, resolves with \`{ type: 'refused', code, message }\`.
[error-handling.md](error-handling.md) lists which error reaches which part of a program.

The cause of the error:

${faults.join('\n')}

The layer in which it occurs: \`api\` is an external service (a provider, an MCP server, an HTTP API), \`tool\` is the tool, its arguments or its permission,
and \`processing\` is Baton’s own work around them. \`readErrorLayer(code)\` returns it.

A retryable error may disappear by itself; any other error will recur until something is changed.

${row(['Code', 'Layer', 'Fault of', 'Retry', 'Meaning', 'How to solve'])}
${row(['---', '---', '---', '---', '---', '---'])}
${rows.join('\n')}
`
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`
}
