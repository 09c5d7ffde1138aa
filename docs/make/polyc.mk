# Rules that send C files through polyc, for GNU make. Copy this file into a project, and
#
#   include polyc.mk
#   program: main.o $(POLYC_BUILD)/blur.polyc.o
#   	$(CC) $(CFLAGS) -fopenmp $^ -o $@
#
# builds blur.polyc.o from blur.c, whose loops go through polyc first. What changed is built again, and nothing else: a
# C file, a header that it includes, the options.
#
# Set before, or on the command line of make:
#   POLYC         the command                                            polyc
#   POLYC_FLAGS   its options, such as -I, -D and --machine host
#   POLYC_BUILD   the folder for what is made                            build
#   POLYC_CFLAGS  for the C compiler, beside CPPFLAGS and CFLAGS         -fopenmp
POLYC ?= polyc
POLYC_FLAGS ?=
POLYC_BUILD ?= build
POLYC_CFLAGS ?= -fopenmp

polyc_goal := $(.DEFAULT_GOAL)

# The rules about headers (-MD) need a name of their own (-MF): a C compiler writes blur.polyc.d for the object file.
$(POLYC_BUILD)/%.polyc.c: %.c $(POLYC_BUILD)/polyc.flags
	@mkdir -p $(@D)
	$(POLYC) compile $< $(POLYC_FLAGS) -q -MD -MF $(POLYC_BUILD)/$*.scop.d -o $@

# What the file includes with quotes is still beside the original.
$(POLYC_BUILD)/%.polyc.o: $(POLYC_BUILD)/%.polyc.c
	$(CC) -iquote $(dir $*) $(CPPFLAGS) $(CFLAGS) $(POLYC_CFLAGS) -MD -MP -c $< -o $@

# The options of the last run: the file is written where they are others now.
polyc_words := $(POLYC) $(POLYC_FLAGS)
ifneq ($(polyc_words),$(shell cat '$(POLYC_BUILD)/polyc.flags' 2>/dev/null))
$(POLYC_BUILD)/polyc.flags: polyc-always
endif
$(POLYC_BUILD)/polyc.flags:
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(polyc_words))' >$@

-include $(wildcard $(POLYC_BUILD)/*.d $(POLYC_BUILD)/*/*.d $(POLYC_BUILD)/*/*/*.d)

.PHONY: polyc-always
.PRECIOUS: $(POLYC_BUILD)/%.polyc.c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := $(polyc_goal)
