// A measured client is a module with an `open`. Each client has its own process.

/** Runs complete turns, one `run` at a time. */
export interface Client {
  /** Runs `turns` turns, `atOnce` of them concurrently, and resolves when all have ended. */
  run(turns: number, atOnce: number): Promise<Ran>
  /** For clients that apps connect to: resolves when this many apps are connected and have a session. */
  connect?(connections: number): Promise<void>
  close(): Promise<void>
}

/** Results of the turns, for checking that the client did its work. */
export interface Ran {
  /** Characters of text that reached the user. */
  readonly chars: number
  readonly tools: number
  /** Microseconds from the provider's write to the user, for each delta, if the provider wrote times into its text. */
  readonly delaysUs: readonly number[]
}

/** `wire` applies to clients that support several wires. */
export type OpenClient = (place: { readonly base: string; readonly wire: string }) => Promise<Client> | Client

/** One turn: the user says `hi`; text is passed on as it arrives. */
export type RunTurn = (onText: (text: string) => void) => Promise<void>

/** The tool that every client has; it counts its calls. */
export type Echo = (input: EchoInput) => string

export interface EchoInput {
  readonly text: string
  readonly n: number
}

export const ECHO_SCHEMA = {
  type: 'object',
  properties: { text: { type: 'string' }, n: { type: 'number' } },
  required: ['text', 'n'],
} as const

/** A client whose turns run in this process. */
export function createClient(prepare: (echo: Echo) => RunTurn, close: () => Promise<void> = async () => {}): Client {
  const seen = { chars: 0, tools: 0, delaysUs: [] as number[] }
  const turn = prepare(({ text, n }) => {
    seen.tools += 1
    return `echo:${text}:${n}`
  })
  const onText = (text: string): void => {
    seen.chars += text.length
    // The provider's own texts do not contain capital letters.
    if (text.includes('T')) noteDelays(text, seen.delaysUs)
  }
  return {
    run: async (turns, atOnce) => {
      Object.assign(seen, { chars: 0, tools: 0, delaysUs: [] })
      let left = turns
      const work = async (): Promise<void> => {
        while (left-- > 0) await turn(onText)
      }
      await Promise.all(Array.from({ length: atOnce }, work))
      return { ...seen }
    },
    close,
  }
}

function noteDelays(text: string, delaysUs: number[]): void {
  const nowUs = process.hrtime.bigint() / 1000n
  for (const [, writtenUs = ''] of text.matchAll(/T(\d+);/g)) delaysUs.push(Number(nowUs - BigInt(writtenUs)))
}
