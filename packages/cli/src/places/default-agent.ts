// The default agent: it explores one folder and never writes.
import type { Agent, AgentProfile } from '@baton/core/internal'
import { defineAgent } from '@baton/core/internal'
import { workspaceTools } from '@baton/tools/workspace'
import type { WorkspaceEditor } from '@baton/tools/workspace'

const INSTRUCTIONS = `You answer questions about the files of one folder, the workspace.
Look before you answer: search with code.grep, list folders with fs.list_dir, read lines with content.get_span.
Say only what the tools have shown you, and refer to files by their paths.
When a result is truncated, continue reading as it says, or mention that there is more.
Answer briefly, in the language of the question.`

/** @throws BatonError `invalid_option` when the folder does not exist */
export function createDefaultAgent(folder: string, profile: AgentProfile = {}, editor?: WorkspaceEditor): Agent {
  return defineAgent({
    name: 'workspace-explorer',
    profile,
    instructions: INSTRUCTIONS,
    tools: workspaceTools({ root: folder, ...(editor && { editor }) }),
  })
}
