// The only page: it says where the chat is.
export default function Page() {
  return <p>The chat is at /api/chat.</p>
}
