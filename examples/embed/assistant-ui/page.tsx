// A chat page with assistant-ui: its primitives over the AI SDK's `useChat`. Nothing of Baton runs in it.
import type { ToolCallMessagePartProps } from '@assistant-ui/react'
import {
  ActionBarPrimitive,
  AssistantRuntimeProvider,
  ComposerPrimitive,
  MessagePrimitive,
  ThreadPrimitive,
  useAssistantTool,
} from '@assistant-ui/react'
import { AssistantChatTransport, useChatRuntime } from '@assistant-ui/react-ai-sdk'
import { lastAssistantMessageIsCompleteWithApprovalResponses, lastAssistantMessageIsCompleteWithToolCalls } from 'ai'
import { createRoot } from 'react-dom/client'

/** A tool of the agent that this page runs. */
function ThemeTool() {
  useAssistantTool({
    toolName: 'page.theme',
    description: 'Makes the page light or dark',
    parameters: { type: 'object', properties: { theme: { type: 'string' } }, required: ['theme'] },
    execute: ({ theme }: { readonly theme: string }) => {
      document.documentElement.dataset['theme'] = theme
      return { done: `it is ${theme} now` }
    },
  })
  return null
}

function Tool({ toolName, status, result, approval, respondToApproval }: ToolCallMessagePartProps) {
  const isAsked = approval !== undefined && approval.approved === undefined
  return (
    <div className="tool" data-status={status.type}>
      {toolName}: {result === undefined ? status.type : JSON.stringify(result)}
      {isAsked && (
        <>
          <button onClick={() => void respondToApproval({ approved: true })}>Allow</button>
          <button onClick={() => void respondToApproval({ approved: false })}>Deny</button>
        </>
      )}
    </div>
  )
}

function Message() {
  return (
    <MessagePrimitive.Root>
      <article aria-label="Message of the chat">
        <MessagePrimitive.Parts components={{ tools: { Fallback: Tool } }} />
      </article>
      <MessagePrimitive.If assistant>
        <ActionBarPrimitive.Root>
          <ActionBarPrimitive.Reload>Try again</ActionBarPrimitive.Reload>
        </ActionBarPrimitive.Root>
      </MessagePrimitive.If>
    </MessagePrimitive.Root>
  )
}

function Page() {
  const runtime = useChatRuntime({
    transport: new AssistantChatTransport({ api: '/api/chat' }),
    sendAutomaticallyWhen: (chat) =>
      lastAssistantMessageIsCompleteWithToolCalls(chat) || lastAssistantMessageIsCompleteWithApprovalResponses(chat),
  })
  return (
    <AssistantRuntimeProvider runtime={runtime}>
      <ThemeTool />
      <ThreadPrimitive.Root>
        <ThreadPrimitive.Messages components={{ Message }} />
        <ComposerPrimitive.Root>
          <ComposerPrimitive.Input aria-label="Message" />
          <ComposerPrimitive.Send>Send</ComposerPrimitive.Send>
        </ComposerPrimitive.Root>
      </ThreadPrimitive.Root>
    </AssistantRuntimeProvider>
  )
}

const root = document.getElementById('root')
if (root) createRoot(root).render(<Page />)
