// Services for tools, such as a database or an API client, are passed to the host once; each call knows whom it runs
// for.
import { createScriptedModel } from '@baton/host/testing'
import type { ToolContext } from '@baton/host'
import { createHost, defineAgent, tool } from '@baton/host'
import { z } from 'zod'

interface Services {
  readonly tokens: ReadonlyMap<string, string>
}
const Issue = z.object({ owner: z.string(), repo: z.string(), issueNumber: z.number().int() })

const getIssue = tool({
  name: 'GetIssueDetails',
  description: 'Reads an issue',
  input: Issue,
  effect: 'pure',
  execute: ({ owner, repo, issueNumber }, { services, principal, signal }: ToolContext<Services>) => {
    const token = services.tokens.get(principal.id)
    if (token === undefined) throw new Error(`${principal.id} has not connected an account yet`)
    signal.throwIfAborted()
    return { title: `${owner}/${repo}#${issueNumber}`, readWith: token.length } // here: call the API with the token
  },
})
const model = createScriptedModel({
  steps: [
    { calls: [{ name: 'GetIssueDetails', arguments: { owner: 'acme', repo: 'shop', issueNumber: 7 } }] },
    { text: 'I have read it.' },
  ],
})
const services: Services = { tokens: new Map([['ann', 'token-of-ann']]) }
const host = createHost({ agent: defineAgent({ name: 'solver', model, tools: [getIssue] }), services })
const session = await host.session('issue-7', { principal: { id: 'ann' } })
for await (const event of session.send('Solve it.'))
  if (event.type === 'call' && event.call.result?.type === 'ok') console.log(event.call.result.value)
await host.stop()
