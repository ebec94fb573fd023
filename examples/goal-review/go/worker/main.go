// A worker with the activity that the author_reputation tool calls.
package main

import (
	"context"
	"log"
	"os"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
)

type Author struct{ Author string }
type Call struct{ Session, CallID, IdempotencyKey string }

func AuthorReputation(_ context.Context, input Author, _ Call) (map[string]any, error) {
	return map[string]any{"author": input.Author, "paid": len(input.Author)}, nil
}

func main() {
	temporal, err := client.Dial(client.Options{HostPort: os.Getenv("BATON_TEMPORAL")})
	if err != nil {
		log.Fatal(err)
	}
	defer temporal.Close()
	reputation := worker.New(temporal, "reputation", worker.Options{})
	reputation.RegisterActivity(AuthorReputation)
	if err := reputation.Run(worker.InterruptCh()); err != nil {
		log.Fatal(err)
	}
}
