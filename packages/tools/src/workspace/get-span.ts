// `content.get_span`: lines of a file. Reads in chunks, so a file of any size needs little memory.
import type { FileHandle } from 'node:fs/promises'
import { tool } from '@baton/core'
import * as z from 'zod'
import type { CallBudget } from './call-budget.ts'
import { workspacePath } from './workspace-limits.ts'
import type { WorkspaceLimits } from './workspace-limits.ts'
import type { WorkspaceKit } from './workspace.ts'
import { OVERLAP_CHARS, SecretScan } from './secret-content.ts'
import { WORKSPACE_ERRORS, hiddenContent, refused } from './refused.ts'
import type { TextForm } from './text-bytes.ts'
import { readTextForm } from './text-bytes.ts'

const spanOutput = z.object({
  path: z.string(),
  startLine: z.int(),
  endLine: z.int().describe('Last line in the text; startLine - 1 if there is none'),
  totalLines: z.int().optional().describe('Absent if the file is too large to count'),
  text: z.string(),
  cutLines: z.array(z.int()).optional().describe('Lines that were cut off because they are too long'),
  invalidUtf8: z.boolean().optional().describe('True if bytes that are not UTF-8 were replaced'),
  truncated: z.boolean(),
  next: z
    .object({ startLine: z.int(), endLine: z.int(), cursor: z.string().optional() })
    .optional()
    .describe('Arguments to continue reading'),
})

export function getSpanTool(kit: WorkspaceKit) {
  const { workspace, limits } = kit
  return tool({
    name: 'content.get_span',
    description: 'Read the content of a text file of the workspace: show the lines from startLine to endLine.',
    effect: 'pure',
    title: 'Read lines of a file',
    kind: 'read',
    describe: ({ path, startLine: line }) => ({ title: `Read ${path}`, locations: [{ path, line }] }),
    trust: kit.trust,
    network: false,
    errors: WORKSPACE_ERRORS,
    input: z.object({
      path: workspacePath.min(1).describe('File, relative to the root of the workspace'),
      startLine: z.int().min(1).default(1).describe('First line, counted from 1'),
      endLine: z
        .int()
        .min(1)
        .optional()
        .describe(`Last line, inclusive; at most ${limits.spanLinesMax} lines are returned at once`),
      cursor: z
        .string()
        .regex(CURSOR)
        .optional()
        .describe('Where to continue in a very large file: the value of "next.cursor"'),
    }),
    output: spanOutput,
    execute: async (input, context) => {
      const guard = workspace.guard()
      const { startLine } = input
      const askedEnd = input.endLine ?? startLine + limits.spanLinesMax - 1
      if (askedEnd < startLine)
        throw refused('invalid_arguments', `endLine ${askedEnd} is before startLine ${startLine}; swap them`)
      const path = await workspace.locate(input.path, guard)
      const endLine = Math.min(askedEnd, startLine + limits.spanLinesMax - 1)
      const isAllowed = workspace.isAllowed(path)
      const request = {
        startLine,
        endLine,
        limits,
        budget: kit.startBudget(context),
        from: readCursor(input),
        isAllowed,
      }
      const span = kit.editor.readTextFile
        ? await readEdited(path, await kit.editor.readTextFile(workspace.toAbsolute(path)), request)
        : await workspace.readFile(path, guard, (file) => readSpan(file, request))
      const given = startLine + span.lines.length - 1
      const wantedEnd = Math.min(askedEnd, span.totalLines ?? askedEnd)
      const truncated = given < wantedEnd || span.cutLines.length > 0
      // Without a cursor, no later call would reach this line either.
      const { line, byte } = span.stoppedAt
      const cursor = span.totalLines === undefined && line <= given + 1 ? `${line}:${byte}` : undefined
      return {
        path,
        startLine,
        endLine: given,
        ...(span.totalLines !== undefined && { totalLines: span.totalLines }),
        text: span.lines.join('\n'),
        ...(span.cutLines.length > 0 && { cutLines: span.cutLines }),
        ...(span.invalidUtf8 && { invalidUtf8: true }),
        truncated,
        ...(given < wantedEnd &&
          (given >= startLine || cursor !== undefined) && {
            next: { startLine: given + 1, endLine: wantedEnd, ...(cursor !== undefined && { cursor }) },
          }),
      }
    },
  })
}

/** A line, and a byte offset in it. */
const CURSOR = /^(\d{1,15}):(\d{1,15})$/

interface Place {
  readonly line: number
  readonly byte: number
}

/** @throws BatonError `invalid_arguments` for a cursor beyond the span */
function readCursor({
  cursor,
  startLine,
}: {
  readonly cursor?: string | undefined
  readonly startLine: number
}): Place {
  const [, line = '1', byte = '0'] = CURSOR.exec(cursor ?? '') ?? []
  if (Number(line) >= 1 && Number(line) <= startLine) return { line: Number(line), byte: Number(byte) }
  throw refused('invalid_arguments', `the cursor "${cursor}" does not match startLine ${startLine}; omit it`)
}

interface SpanRequest {
  readonly startLine: number
  readonly endLine: number
  readonly limits: WorkspaceLimits
  readonly budget: CallBudget
  readonly from: Place
  /** Whether the owner allows the file regardless of its content. */
  readonly isAllowed: boolean
}

interface Span {
  readonly lines: readonly string[]
  readonly cutLines: readonly number[]
  readonly totalLines: number | undefined
  readonly invalidUtf8: boolean
  /** Line at which reading stopped. */
  readonly stoppedAt: Place
}

/** A place in the middle of a file at which reading stops. */
interface Stop {
  /** First byte that was read. */
  readonly from: number
  /** First byte that was not. */
  readonly byte: number
  /** Returns how many bytes of the file a text is. */
  readonly toBytes: (text: Buffer) => number
}

const CHUNK_BYTES = 64 * 1024
const UTF16_MARK_BYTES = 2
const NEWLINE = 10

/** @throws BatonError `tool_failed` for a binary file, `path_protected` for a file with a secret, `cancelled` */
async function readSpan(
  file: { readonly handle: FileHandle; readonly path: string },
  request: SpanRequest,
): Promise<Span> {
  const { budget, limits, from, isAllowed } = request
  const collector = new SpanCollector(request)
  const scan = new SecretScan()
  const buffer = Buffer.alloc(CHUNK_BYTES)
  const form = await readForm(file, buffer)
  const first = alignTo(form, from.byte)
  // A key may start before the place where reading resumes.
  let position = Math.max(0, first - OVERLAP_CHARS)
  const toScanned = new TextDecoder(form.encoding === 'utf-8' ? 'latin1' : form.encoding) // tokens are ASCII
  const toUtf8 = form.encoding === 'utf-8' ? undefined : new TextDecoder(form.encoding)
  // A decoder drops the byte order mark, and holds back an incomplete character.
  const start = toUtf8 && first === 0 ? UTF16_MARK_BYTES : first
  let collected = start
  const end = async (atEnd: boolean): Promise<Span> => {
    if (!isAllowed && (await scan.judge())) throw hiddenContent(file.path)
    const toBytes = (text: Buffer): number => (toUtf8 ? 2 * text.toString('utf8').length : text.length)
    return collector.finish(atEnd ? undefined : { from: start, byte: collected, toBytes })
  }
  for (;;) {
    if (budget.isSpent() || position >= first + limits.scanBytesMax) return await end(false)
    const { bytesRead } = await file.handle.read(buffer, 0, CHUNK_BYTES, position)
    if (bytesRead === 0) return await end(true)
    const chunk = buffer.subarray(0, bytesRead)
    // Text after the span is not shown; only its lines are counted.
    const isScanned = !isAllowed && !collector.isPast
    if (isScanned && (await scan.take(toScanned.decode(chunk, { stream: true })))) throw hiddenContent(file.path)
    const wanted = chunk.subarray(Math.max(0, first - position))
    position += bytesRead
    if (toUtf8) {
      const text = toUtf8.decode(wanted, { stream: true })
      collector.handleChunk(Buffer.from(text, 'utf8'))
      collected += 2 * text.length
    } else {
      collector.handleChunk(wanted)
      collected = position
    }
  }
}

/** @throws BatonError `tool_failed` for a binary file */
async function readForm(
  { handle, path }: { readonly handle: FileHandle; readonly path: string },
  buffer: Buffer,
): Promise<TextForm> {
  const { bytesRead } = await handle.read(buffer, 0, CHUNK_BYTES, 0)
  const form = readTextForm(buffer.subarray(0, bytesRead))
  if (form) return form
  throw refused('tool_failed', `"${path}" is a binary file, not text; it cannot be shown`)
}

/** A model may send any cursor: an offset inside a UTF-16 unit would garble all text after it. */
function alignTo({ encoding }: TextForm, byte: number): number {
  return encoding === 'utf-8' ? byte : byte - (byte % 2)
}

/** Reads an editor's text, saved or not. @throws BatonError `path_protected` if it contains a secret */
async function readEdited(path: string, text: string, request: SpanRequest): Promise<Span> {
  const { isAllowed } = request
  const collector = new SpanCollector({ ...request, from: { line: 1, byte: 0 } })
  const scan = new SecretScan()
  if (!isAllowed && ((await scan.take(text)) || (await scan.judge()))) throw hiddenContent(path)
  const bytes = Buffer.from(text, 'utf8')
  collector.handleChunk(bytes)
  return collector.finish()
}

/** Counts all lines and keeps the requested ones, up to the limits. */
class SpanCollector {
  readonly #request: SpanRequest
  readonly #lines: string[] = []
  readonly #cutLines: number[] = []
  #pieces: Buffer[] = []
  #pieceBytes = 0
  #line = 1
  #lineBytes = 0
  #bytesLeft: number
  #invalidUtf8 = false

  constructor(request: SpanRequest) {
    this.#request = request
    this.#bytesLeft = request.limits.spanBytesMax
    this.#line = request.from.line
  }

  /** Whether every requested line was seen. */
  get isPast(): boolean {
    return this.#line > this.#request.endLine
  }

  handleChunk(chunk: Buffer): void {
    let start = 0
    while (start < chunk.length) {
      const newline = chunk.indexOf(NEWLINE, start)
      const end = newline === -1 ? chunk.length : newline
      this.#takePiece(chunk.subarray(start, end))
      if (newline === -1) return
      this.#closeLine()
      start = end + 1
    }
  }

  /** `stop` is absent at the end of the file. */
  finish(stop?: Stop): Span {
    let stoppedAt: Place = { line: this.#line, byte: stop?.byte ?? 0 }
    const began = stop ? stop.byte - stop.toBytes(Buffer.concat(this.#pieces)) : 0
    const isRepeatable = this.#pieceBytes === this.#lineBytes && began > (stop?.from ?? 0)
    // The next call shows the whole line, from its first byte. If this call began there, it shows the part as cut.
    if (stop && this.#isWanted && isRepeatable) stoppedAt = { line: this.#line, byte: began }
    // Text after the last newline is a line; nothing after it is not.
    else if (this.#lineBytes > 0) this.#closeLine(stop !== undefined)
    const totalLines = stop ? undefined : this.#line - 1
    return { lines: this.#lines, cutLines: this.#cutLines, totalLines, invalidUtf8: this.#invalidUtf8, stoppedAt }
  }

  get #isWanted(): boolean {
    return this.#line >= this.#request.startLine && this.#line <= this.#request.endLine && this.#bytesLeft > 0
  }

  #takePiece(piece: Buffer): void {
    this.#lineBytes += piece.length
    // A character has at most 4 bytes; nothing beyond the longest shown line is kept.
    const roomBytes = this.#request.limits.lineCharactersMax * 4 + 4 - this.#pieceBytes
    if (!this.#isWanted || roomBytes <= 0) return
    this.#pieces.push(Buffer.from(piece.subarray(0, roomBytes)))
    this.#pieceBytes += Math.min(piece.length, roomBytes)
  }

  #closeLine(isPart = false): void {
    if (this.#isWanted) this.#keepLine(isPart)
    this.#pieces = []
    this.#pieceBytes = 0
    this.#lineBytes = 0
    this.#line++
  }

  #keepLine(isPart: boolean): void {
    const { lineCharactersMax } = this.#request.limits
    const decoded = Buffer.concat(this.#pieces).toString('utf8').replace(/\r$/, '')
    const unmarked = this.#line === 1 ? decoded.replace(/^\uFEFF/, '') : decoded
    const isCut = unmarked.length > lineCharactersMax
    const text = isCut ? unmarked.slice(0, lineCharactersMax) : unmarked
    const bytes = Buffer.byteLength(text) + 1
    // The first line is always returned; otherwise a reader that continues would make no progress.
    const fits = bytes <= this.#bytesLeft || this.#lines.length === 0
    this.#bytesLeft = fits ? this.#bytesLeft - bytes : 0
    if (!fits) return
    this.#lines.push(text)
    if (isCut || isPart) this.#cutLines.push(this.#line)
    // U+FFFD replaces invalid bytes; a file that really contains it counts as invalid too, which does no harm.
    if (text.includes('\uFFFD')) this.#invalidUtf8 = true
  }
}
