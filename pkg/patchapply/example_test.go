package patchapply_test

import (
	"context"
	"fmt"
	"log"

	"github.com/toolhost/toolhost/pkg/patchapply"
)

func Example() {
	ctx := context.Background()
	storage := patchapply.NewMemory(map[string]string{"greet.txt": "hello\nworld\n"})
	p, err := patchapply.Parse([]byte(`*** Begin Patch
*** Update File: greet.txt
@@
 hello
-world
+moon
*** Add File: bye.txt
+bye
*** End Patch`))
	if err != nil {
		log.Fatal(err)
	}
	plan, err := p.Plan(ctx, storage.View(ctx)) // changes nothing
	if err != nil {
		log.Fatal(err)
	}
	if plan, err = plan.Commit(ctx, storage); err != nil {
		log.Fatal(err)
	}
	for _, o := range plan.Outcomes {
		fmt.Println(o.Path, len(o.After))
	}
	_, err = p.Plan(ctx, storage.View(ctx))
	fmt.Println(patchapply.ClassOf(err))
	// Output:
	// greet.txt 11
	// bye.txt 4
	// context_not_found
}
