// What users import from @baton/tools/github.
import type { Tool } from '@baton/core'
import { fileTools } from './file-tools.ts'
import type { GithubOptions } from './github-kit.ts'
import { openGithubKit } from './github-kit.ts'
import { issueTools } from './issue-tools.ts'
import { planTool } from './plan-tool.ts'
import { pullTools } from './pull-tools.ts'

export type { GithubOptions, IssueReference } from './github-kit.ts'

/**
 * Issues, comments, labels, files, branches, pull requests and reviews on GitHub, with the token of each call's principal, and
 * `CreateImplementationPlan`. Tools that write ask a person first, unless `approval` is false.
 * @throws BatonError `invalid_option`
 */
export function githubTools<Services = unknown>(options: GithubOptions<Services>): readonly Tool[] {
  const kit = openGithubKit(options)
  return [...issueTools(kit), planTool(kit), ...fileTools(kit), ...pullTools(kit)]
}
