// MCP tools over Temporal: workers own the connections, so the session's host needs none. A server's question reaches
// the user through the host; a call settles when its worker ends, and the next one runs on another worker. Skipped
// without Temporal.
import { defineAgent } from '@baton/core'
import type { Agent, Session } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createMemoryStore } from '@baton/host'
import type { McpServers } from '@baton/mcp/client'
import { createMcpServers } from '@baton/mcp/client'
import type { TemporalWorker } from '@baton/temporal'
import { bundleWorkflows, createMemoryBus, createTemporalHost, createTemporalWorker } from '@baton/temporal'
import { findTemporal, startTemporal } from '@baton/testing/temporal'
import { createRequire } from 'node:module'
import { afterAll, expect, test } from 'vitest'

const EVERYTHING = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js')
const temporal = findTemporal('MCP servers over Temporal', (message) => console.warn(message))
const service = temporal === undefined ? undefined : await startTemporal(temporal)
afterAll(() => service?.close())

/**
 * Its model calls the tool named by the user. Workers and the host each create their own, as separate processes would.
 */
function createAgent(servers?: McpServers): Agent {
  const model = createScriptedModel({
    steps: ({ messages }) => {
      const last = messages.at(-1)
      if (last?.role !== 'user') return { text: 'Done.' }
      const [part] = last.parts
      const [name = '', given = '{}'] = part?.type === 'text' ? part.text.split(' ') : []
      return { calls: [{ name, arguments: JSON.parse(given) as object as Record<string, never> }] }
    },
  })
  return defineAgent({ name: 'tester', model, ...(servers && { sources: servers.sources }) })
}

interface RunningWorker {
  readonly servers: McpServers
  stop(): Promise<void>
}

/** Returns each call's outcome: `<type> <content types>`, or `<type> <code>`. */
async function say(session: Session, text: string, onQuestion?: (session: Session, id: string) => void) {
  const results: string[] = []
  for await (const event of session.send(text)) {
    if (event.type === 'question-asked') onQuestion?.(session, event.questionId)
    if (event.type !== 'call' || !event.call.result) continue
    const { result } = event.call
    const about = 'content' in result ? result.content.map(({ type }) => type).join(' ') : JSON.stringify(result)
    results.push(`${result.type} ${about}`)
  }
  return results
}

test.runIf(service)('tools, images and questions of a server; a worker that ends in a call', async () => {
  const workflowBundle = await bundleWorkflows()
  const shared = {
    address: service?.address ?? '',
    taskQueue: 'mcp',
    logStore: createMemoryStore(),
    redis: createMemoryBus(),
  }
  const startWorker = async (): Promise<RunningWorker> => {
    const servers = createMcpServers({ everything: { command: process.execPath, args: [EVERYTHING] } })
    const worker: TemporalWorker = await createTemporalWorker({
      ...shared,
      agent: createAgent(servers),
      workflowBundle,
      drainMs: 500,
    })
    const running = worker.run()
    const stop = async (): Promise<void> => {
      worker.shutdown()
      await running
      await servers.close()
    }
    return { servers, stop }
  }
  const first = await startWorker()
  const host = await createTemporalHost({ ...shared, agent: createAgent() })
  const session = await host.session('one')
  expect(await say(session, 'get-sum {"a":2,"b":3}')).toEqual(['ok text'])
  expect(await say(session, 'get-tiny-image')).toEqual(['ok text image text'])
  const answer = (of: Session, questionId: string): void => void of.answer({ questionId, value: { name: 'Ann' } })
  expect(await say(session, 'trigger-elicitation-request', answer)).toEqual(['ok text text text'])
  expect(first.servers.status()).toMatchObject([{ state: 'connected', starts: 1 }])

  let second: RunningWorker | undefined
  const replace = async (): Promise<void> => {
    second = await startWorker()
    await first.stop()
  }
  let replaced: Promise<void> | undefined
  const lost = await say(session, 'trigger-elicitation-request', () => {
    replaced = replace()
  })
  await replaced
  expect(lost).toEqual([expect.stringMatching(/^(unknown|error .*cancelled.*may have taken effect)/) as string])
  expect(await say(session, 'get-sum {"a":2,"b":3}')).toEqual(['ok text'])
  expect(second?.servers.status()).toMatchObject([{ state: 'connected', starts: 1 }])
  await host.stop()
  await second?.stop()
})
