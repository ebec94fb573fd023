// `npm run example issues`: with GITHUB_TOKEN and GITHUB_ISSUE=owner/repo#7 it works on a real issue; with a provider's
// key a real model solves it.
import { chooseModel } from '@baton/models/choose-model'
import { startSolver } from './solver.ts'

const { GITHUB_TOKEN: token, GITHUB_ISSUE: named = '', PORT: port = '8788' } = process.env
const [, owner = '', repo = '', number = ''] = /^([\w.-]+)\/([\w.-]+)#(\d+)$/.exec(named) ?? []
if (token !== undefined && number === '') {
  console.error(`GITHUB_ISSUE must name an issue as owner/repo#7, not "${named}"`)
  process.exit(2)
}
const { id, reason } = chooseModel({ variables: process.env })
const isScripted = id.startsWith('offline')
const { url } = await startSolver({
  port: Number(port),
  ...(token !== undefined && { token, issue: { owner, repo, issueNumber: Number(number) } }),
  ...(!isScripted && { model: id, models: [id] }),
})
console.log(
  `${token === undefined ? 'a local GitHub with one issue' : named}; ${isScripted ? 'a script plays the model' : `${id} answers (${reason})`}`,
)
console.log(`The issue solver is at ${url}`)
