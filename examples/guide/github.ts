// An agent on GitHub, with the token of the person who asks. A local GitHub replaces the real one here.
import { createScriptedModel } from '@baton/host/testing'
import { createHost, defineAgent } from '@baton/host'
import { startFakeGithub } from '@baton/testing/fake-github'
import { githubTools } from '@baton/kits/github'

const github = await startFakeGithub({
  tokens: { 'token-of-ann': { login: 'ann' } },
  repositories: [{ owner: 'acme', name: 'shop', issues: [{ title: 'The cart forgets its items', labels: ['bug'] }] }],
})
interface Services {
  readonly tokens: ReadonlyMap<string, string>
}
const tools = githubTools<Services>({
  token: ({ principal, services }) => services.tokens.get(principal.id),
  currentIssue: () => ({ owner: 'acme', repo: 'shop', issueNumber: 1 }),
  server: github.url, // leave it out for GitHub
})
const issue = { owner: 'acme', repo: 'shop', issueNumber: 1 }
const model = createScriptedModel({
  steps: [
    { calls: [{ name: 'GetIssueDetails', arguments: issue }] },
    { calls: [{ name: 'github.add_comment', arguments: { ...issue, text: 'I am on it.' } }] },
    { text: 'I have read the issue and said that I work on it.' },
  ],
})
const services: Services = { tokens: new Map([['ann', 'token-of-ann']]) }
const host = createHost({ agent: defineAgent({ name: 'solver', model, tools }), services })
const session = await host.session('issue-1', { principal: { id: 'ann' } })
for await (const event of session.send('Solve the issue.')) {
  if (event.type === 'approval-requested') {
    console.log('asks:', event.call.title)
    await session.decide({ approvalId: event.approvalId, decision: 'approve' })
  }
  if (event.type === 'call' && event.call.result) console.log(event.call.name, event.call.result.type)
}
console.log(github.issue('acme/shop', 1)?.comments.map(({ author, body }) => `${author}: ${body}`))
await host.stop()
await github.close()
