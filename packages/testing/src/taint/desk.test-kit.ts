// A desk with tools that write, send and spend, half of which run without approval while nothing is untrusted; and what
// a scripted model did with them.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { ApprovalPolicy, ContentPart, JsonObject, Tool, ToolSource } from '@baton/core'
import { createTaintPolicy, tool } from '@baton/core'
import { createHost, createMemoryStore, defineAgent } from '@baton/host'
import { createScriptedModel } from '@baton/host/testing'
import { workspaceTools } from '@baton/tools/workspace'

export interface DeskCall {
  readonly name: string
  readonly arguments: JsonObject
}

/** One step of the model: its calls, or its answer. */
export type DeskStep = readonly DeskCall[] | string

export interface Desk {
  /** Files of the folder. */
  readonly files?: Readonly<Record<string, string>>
  /** Result of `page.read`, for any address. */
  readonly page?: string | readonly ContentPart[]
  /** A tool from an untrusted source. */
  readonly stranger?: { readonly description: string }
}

export interface Played {
  /** Calls that ran and that write, send or spend. */
  readonly acted: readonly DeskCall[]
  /** The approved ones among them. */
  readonly approved: readonly DeskCall[]
  /** Approval requests to the person. */
  readonly asked: readonly { readonly name: string; readonly destination: string | undefined }[]
}

/** Tools that write, send or spend. Those in the first list run without approval while nothing is untrusted. */
export const UNASKED: ReadonlySet<string> = new Set([
  'fs.write',
  'fs.edit',
  'mail.send',
  'issue.comment',
  'order.place',
])
export const ASKED: ReadonlySet<string> = new Set(['fs.move', 'fs.delete', 'shell.run', 'payment.send', 'phone.open'])

const text = { type: 'object', additionalProperties: { type: 'string' } } as const

function acting(name: string, destination: string, log: (call: DeskCall) => void): Tool {
  return tool({
    name,
    description: `Does what "${name}" says`,
    input: text,
    effect: 'once',
    describe: (input) => {
      const { [destination]: place } = input as Readonly<Record<string, string>>
      return place === undefined ? {} : { destination: place }
    },
    execute: (input) => {
      log({ name, arguments: input as JsonObject })
      return 'done'
    },
  })
}

/** Both runs have the same policy for what is not tainted: half of the acting tools run without approval. */
const half: ApprovalPolicy = ({ tool: { name } }) => (UNASKED.has(name) ? 'allow' : ASKED.has(name) ? 'ask' : undefined)

/**
 * @param approves the person's decision on each request
 * @param taint false to run the same without a taint policy
 */
export async function playAtDesk(
  { files = {}, page = 'Nothing.', stranger }: Desk,
  steps: readonly DeskStep[],
  { approves, taint = true, task = 'Do your work.' }: { approves: boolean; taint?: boolean; task?: string },
): Promise<Played> {
  const root = mkdtempSync(join(tmpdir(), 'baton-desk-'))
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  const acted: DeskCall[] = []
  const log = (call: DeskCall): void => void acted.push(call)
  const workspace = workspaceTools({ root, write: true, shell: { sandbox: 'none' } })
  const tools = [
    ...workspace.map((one) => (UNASKED.has(one.name) || ASKED.has(one.name) ? watch(one, log) : one)),
    readingTool('page.read', 'fetch', page),
    readingTool('mail.read', 'read', page),
    readingTool('picture.look', 'read', page),
    tool({
      name: 'note.read',
      description: 'Reads the own notes',
      input: text,
      effect: 'pure',
      execute: () => 'Own words.',
    }),
    acting('mail.send', 'to', log),
    acting('issue.comment', 'issue', log),
    acting('order.place', 'shop', log),
    acting('payment.send', 'account', log),
    acting('phone.open', 'app', log),
  ]
  const sources: ToolSource[] = stranger ? [strangerSource(stranger.description, log)] : []
  const model = createScriptedModel({
    steps: [...steps, 'Done.'].map((step) => (typeof step === 'string' ? { text: step } : { calls: step })),
  })
  const approvalPolicy = taint ? createTaintPolicy({ otherwise: half }) : half
  const agent = defineAgent({ name: 'desk', model, tools, sources, approvalPolicy })
  const host = createHost({ agent, store: createMemoryStore() })
  const asked: { name: string; destination: string | undefined }[] = []
  const approvals = new Set<string>()
  try {
    const session = await host.session('desk')
    const turn = session.send(task)
    for await (const event of turn) {
      if (event.type !== 'approval-requested') continue
      const { call } = event
      asked.push({ name: call.name, destination: call.asked?.destination })
      if (approves) approvals.add(JSON.stringify([call.name, call.input]))
      await session.decide({ approvalId: event.approvalId, decision: approves ? 'approve' : 'deny' })
    }
  } finally {
    await host.stop()
    rmSync(root, { recursive: true, force: true })
  }
  return { acted, asked, approved: acted.filter((call) => approvals.has(JSON.stringify([call.name, call.arguments]))) }
}

function readingTool(name: string, kind: 'fetch' | 'read', page: NonNullable<Desk['page']>): Tool {
  return tool({
    name,
    description: 'Reads what others wrote',
    input: text,
    effect: 'pure',
    kind,
    trust: 'untrusted',
    execute: () => (typeof page === 'string' ? page : { content: page }),
  })
}

function strangerSource(description: string, log: (call: DeskCall) => void): ToolSource {
  const one = { ...acting('stranger.echo', 'to', log), description, trust: 'untrusted' } as const
  return { name: 'stranger', list: () => Promise.resolve([one]) }
}

/** Runs the real tool, and records that it ran. */
function watch(one: Tool, log: (call: DeskCall) => void): Tool {
  const { execute } = one
  if (!execute) return one
  return {
    ...one,
    // Only the policy decides here; the tools' own approvals would mask its effect.
    approval: false,
    execute: (input, context) => {
      log({ name: one.name, arguments: input as JsonObject })
      return execute(input, context)
    },
  }
}
