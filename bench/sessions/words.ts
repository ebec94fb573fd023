// Measures the cost of reading an answer in words: texts of half a megabyte and one megabyte, streamed in pieces of 16
// characters, of kinds that a naive reader would rescan repeatedly. The ratio is 2 if time grows linearly.
import type { Model } from '@baton/core'
import { withPromptedTools } from '@baton/models/prompted'
import type { Measured } from '../measure.ts'
import { compared } from '../measure.ts'

const SIZES = [500_000, 1_000_000] as const
const PIECE_CHARS = 16
const WARM_ROUNDS = 2
const CALL = '<tool_call>{"name": "echo", "arguments": {"text": "x"}}</tool_call>\n'

const TEXTS: Readonly<Record<string, (chars: number) => string>> = {
  words: (chars) => repeat('It is blue, as the sea is. ', chars),
  blanks: (chars) => ' '.repeat(chars),
  'one call': (chars) => `<tool_call>{"name": "echo", "arguments": {"text": "${'x'.repeat(chars)}"}}</tool_call>`,
  'open tags': (chars) => repeat('<tool_call>{', chars),
  'open backticks': (chars) => writeRuns(chars),
}

export async function measureWords(_origin: string, rounds: number): Promise<readonly Measured[]> {
  const measured: Measured[] = []
  for (const [name, write] of Object.entries(TEXTS)) {
    const values = new Map<string, number[]>(SIZES.map((size) => [readName(name, size), []]))
    for (let round = -WARM_ROUNDS; round < rounds; round++)
      for (const size of SIZES) {
        const ms = await readText(write(size))
        if (round >= 0) values.get(readName(name, size))?.push(ms)
      }
    measured.push(...compared(values, readName(name, SIZES[0])))
  }
  return measured
}

function readName(name: string, size: number): string {
  return `${name}, ${(size / 1_000_000).toFixed(1)} MB`
}

async function readText(text: string): Promise<number> {
  const model: Model = {
    id: 'bench/words',
    provider: 'bench',
    capabilities: { tools: 'none', images: false },
    run: (_, sink) => {
      for (let at = 0; at < text.length; at += PIECE_CHARS)
        sink({ type: 'text-delta', text: text.slice(at, at + PIECE_CHARS) })
      return Promise.resolve({ parts: [{ type: 'text', text }], finish: 'end', usage: {}, model: 'words' })
    },
  }
  const asked = {
    instructions: '',
    messages: [],
    tools: [{ name: 'echo', description: 'echo', inputSchema: { type: 'object' } }],
    toolChoice: { type: 'auto' },
    settings: {},
    session: 's',
  } as const
  const startMs = performance.now()
  await withPromptedTools(model, { format: 'hermes' }).run(asked, () => {}, new AbortController().signal)
  return performance.now() - startMs
}

function repeat(unit: string, chars: number): string {
  return unit.repeat(Math.ceil(chars / unit.length)).slice(0, chars)
}

/**
 * Unclosed backticks of every length, each followed by a call: quadratic if a reader searches again for each of them.
 */
function writeRuns(chars: number): string {
  const pieces: string[] = []
  for (let length = 1, sum = 0; sum < chars; length++) {
    const piece = `${'`'.repeat(length)} ${CALL}`
    pieces.push(piece)
    sum += piece.length
  }
  return pieces.join('').slice(0, chars)
}
