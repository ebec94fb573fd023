// An agent for `baton acp`: one per session, working in the folder of the editor's project and with the editor's files.
import { defineAgent } from '@baton/host'
import type { WorkspaceEditor } from '@baton/tools/workspace'
import { workspaceTools } from '@baton/tools/workspace'

interface Place {
  readonly cwd: string
  readonly editor?: WorkspaceEditor
}

export default ({ cwd, editor = {} }: Place) =>
  defineAgent({
    name: 'gardener',
    instructions: 'You keep this project tidy. Look before you change anything, and change as little as you can.',
    tools: workspaceTools({ root: cwd, editor, write: true, shell: true }),
  })
