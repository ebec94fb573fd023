// The explorer in an editor: `baton acp explorer-agent.ts --model gguf:model.gguf` explores the folder of the editor's project.
import { createExplorer } from '@baton/kits/explorer'

export default ({ cwd }: { readonly cwd: string }) => createExplorer({ root: cwd })
