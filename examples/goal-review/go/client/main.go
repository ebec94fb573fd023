// Starts a goal with plain JSON and prints its verdict: go run ./client submission-17 'Is submission "leases" valid?'
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"

	"go.temporal.io/sdk/client"
)

func main() {
	temporal, err := client.Dial(client.Options{HostPort: os.Getenv("BATON_TEMPORAL")})
	if err != nil {
		log.Fatal(err)
	}
	defer temporal.Close()
	options := client.StartWorkflowOptions{ID: os.Args[1], TaskQueue: "baton"}
	goal := map[string]any{"agent": "goal-review", "goal": os.Args[2]}
	run, err := temporal.ExecuteWorkflow(context.Background(), options, "baton.goal", goal)
	if err != nil {
		log.Fatal(err)
	}
	var result struct{ Output, Calls json.RawMessage }
	if err := run.Get(context.Background(), &result); err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(result.Output))
	fmt.Println(string(result.Calls))
}
