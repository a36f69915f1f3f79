package run

// settleIn finds the folder in which the run works. Without one it goes on:
// tools that need it say so.
func (t *turn) settleIn() {
	if t.o.Workspace == nil {
		return
	}
	folder, err := t.o.Workspace(t.view.Thread, t.bot.Handle)
	if err != nil {
		t.log.Error("the run has no folder to work in", "err", err)
		return
	}
	t.folder = folder
}
